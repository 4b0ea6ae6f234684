#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "importers/stream/gpu_names.h"
#include "importers/stream/tokens.h"
#include "trace/sink.h"

// Values as ROCm's tools write them.
namespace aaco::importers::rocm {

inline constexpr const char* kNoTime = "no valid timestamp";
inline constexpr const char* kNegative = "ends before it starts";
inline constexpr const char* kFewFields = "fewer fields than the header";

// A time in ns; a fraction is cut. Empty for anything else, exponents included: a table that went through a spreadsheet has
// "8.1097E+14", which says nothing of ns.
std::optional<std::int64_t> time_ns(std::string_view token);
// The number of "Agent 4", "GPU 0" or "4".
std::optional<std::int64_t> agent_number(std::string_view token);
// Sizes and counts; empty below 0.
std::optional<std::int64_t> count_of(std::string_view token);
// Groups that cover `items` work-items.
std::optional<std::int64_t> groups(std::optional<std::int64_t> items, std::optional<std::int64_t> group_size);

struct TimeSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};
// Both times, or empty with the reason. Two zeros are no times.
std::optional<TimeSpan> time_span(std::string_view start, std::string_view end, const char*& why_not);

// "h2d", "d2h", "d2d", "h2h", "memset" or "unknown" of "MEMORY_COPY_HOST_TO_DEVICE", "HOST_TO_DEVICE", "CopyHostToDevice",
// "hcMemcpyHtoD".
std::string_view copy_kind(std::string_view direction);
// "hip", "hsa", "marker", "rccl" ... of "HIP_RUNTIME_API_EXT" and the like.
std::string domain_of(std::string_view domain);

// The row's devices by its kind: copies know the agent they read from and the one they write to, the host's being none.
void set_devices(trace::CopyRow& row, std::string_view kind, std::optional<std::int64_t> source,
                 std::optional<std::int64_t> target);

// A kernel of a communication library is a collective as well.
template <class Ids>
void add_kernel(trace::Sink& sink, Ids& ids, const trace::KernelRow& row, std::string_view name) {
  sink.add(row);
  if (is_collective_kernel(name)) sink.add(collective_of(row, ids.name(collective_operation_of(name))));
}

// Ids of texts that are no JSON, each cleaned once. Not for texts that never repeat.
class PlainIds {
 public:
  explicit PlainIds(trace::Sink& sink) : sink_(sink) {}
  trace::NameId name(std::string_view text) {
    if (text.empty()) return {};
    if (last_ != nullptr && last_->first == text) return last_->second;  // rows of one name follow each other
    auto known = ids_.find(text);
    if (known == ids_.end()) known = ids_.emplace(text, sink_.name(clean_utf8(text))).first;
    last_ = &*known;
    return last_->second;
  }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

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
  std::unordered_map<std::string, trace::NameId, Hash, Equal> ids_;
  const std::pair<const std::string, trace::NameId>* last_ = nullptr;  // stays where it is
};

}  // namespace aaco::importers::rocm
