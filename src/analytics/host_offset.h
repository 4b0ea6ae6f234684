#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// How far the device's times of a trace are proven to be from its host's: nothing runs before its launch began, and nothing goes
// on after the host's wait for it has returned.
namespace aaco::analytics::trace_time {

// Older traces have whole microseconds.
inline constexpr std::int64_t kRoundingNs = 1'000;

// Calls that return only when all the work launched before has finished. Call order: add() in order of start, then done_after().
class DeviceWaits {
 public:
  static constexpr std::size_t kMaxWaits = 1'000'000;  // of a rank
  void add(const trace::ApiCallRow& row, const trace::NameTable& names);
  // When all work launched until `launch_end_ns` had finished, by the first such call after that; empty: there is none.
  [[nodiscard]] std::optional<std::int64_t> done_after(std::int32_t rank, std::int64_t launch_end_ns) const;

 private:
  struct Wait {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<std::int8_t> kinds_;  // by name id: 0 unseen, 1 waits for the device, -1 other
  std::map<std::int32_t, std::vector<Wait>> waits_;
};

// A copy call that returns when the copy has been done (those to the host; others may return as soon as the data are taken).
bool is_blocking_copy(std::string_view api);

// Work of one device, with the call that launched it.
class HostOffset {
 public:
  // A few wrong correlations are no clock: from this part of the linked work on it is believed (our own judgement).
  static constexpr double kMinShare = 0.02;
  static constexpr std::int64_t kMinCount = 2;

  // `done_ns`: when the host knew that the work had finished; empty: unknown.
  void add(std::int64_t launch_start_ns, std::int64_t start_ns, std::int64_t end_ns, std::optional<std::int64_t> done_ns);
  // What to add to the device's times to compare them with the host's: at least so much, the second largest of what the work so
  // far proves. 0 where nothing is proven, or where both directions are (the offset changes).
  [[nodiscard]] std::int64_t offset_ns() const;
  // How far the clocks are proven to be apart at some time: causes of gaps that are shorter are uncertain.
  [[nodiscard]] std::int64_t apart_ns() const;

 private:
  struct Proof {
    std::int64_t count = 0, largest_ns = 0, second_ns = 0;
    void add(std::int64_t by_ns);
    [[nodiscard]] bool is_proven(std::int64_t linked) const;
  };
  std::int64_t linked_ = 0;
  Proof early_, late_;
};

}  // namespace aaco::analytics::trace_time
