#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "importers/stream/tokens.h"
#include "trace/sink.h"

namespace aaco::importers {

// Ids of texts from JSON in a sink's name table, each name cleaned once. Not for texts that never repeat: they are all
// remembered.
class TextIds {
 public:
  explicit TextIds(trace::Sink& sink) : sink_(sink) {}

  // Of a JSON string without its quotes.
  trace::NameId name(std::string_view raw) {
    if (raw.empty()) return {};
    Known& recent = recent_[(raw.size() + static_cast<unsigned char>(raw.back())) % kRecent];
    if (recent != nullptr && recent->first == raw) return recent->second;
    auto known = ids_.find(raw);
    if (known == ids_.end()) known = ids_.emplace(raw, is_plain(raw) ? sink_.name(raw) : sink_.name(unescape(raw))).first;
    recent = &*known;
    return recent->second;
  }
  // Of a whole JSON value, whose escapes stay; not remembered here.
  trace::NameId json(std::string_view text) { return sink_.name(clean_utf8(text)); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
  };

  trace::Sink& sink_;
  using Known = const std::pair<const std::string, trace::NameId>*;  // stays where it is
  static constexpr std::size_t kRecent = 64;
  std::unordered_map<std::string, trace::NameId, Hash, Equal> ids_;
  std::array<Known, kRecent> recent_ = {};  // a comparison is cheaper than a hash
};

}  // namespace aaco::importers
