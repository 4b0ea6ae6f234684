#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace aaco::trace {

// A text that occurs often (a kernel's name, a metric's id), as a number within one NameTable. 0 is the empty text.
struct NameId {
  std::uint32_t value = 0;
  bool operator==(const NameId&) const = default;
};

// Every text once. Ids are dense and stable; texts stay where they are. Not thread-safe.
class NameTable {
 public:
  NameTable() { (void)intern(""); }
  NameTable(NameTable&&) = default;  // not copied: the index points into the texts
  NameTable& operator=(NameTable&&) = default;
  NameId intern(std::string_view text);
  // The text of an id of this table.
  [[nodiscard]] std::string_view text(NameId id) const { return texts_[id.value]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace aaco::trace

template <>
struct std::hash<aaco::trace::NameId> {
  std::size_t operator()(aaco::trace::NameId id) const noexcept { return std::hash<std::uint32_t>()(id.value); }
};
