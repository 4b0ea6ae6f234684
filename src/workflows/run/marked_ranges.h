#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/handles.h"
#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::workflows {

struct MarkedRange {
  std::int64_t process_id = 0, thread_id = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC
  std::string_view name;
};

// As a row of api_calls, domain "marker".
void add_marker(const MarkedRange& range, trace::Sink& sink);

// Ranges that a recorded program marks: it appends lines "PID TID START_NS END_NS NAME\n", each with one write, to the file that
// the variable AACO_RANGES names (docs/formats/ranges.md; the Python module does). The file is in memory, and what was read is
// freed. Lines that are no range, lie in the future or exceed the limits are counted.
class MarkedRanges {
 public:
  static constexpr std::int64_t kMaxRanges = 2'000'000;
  static constexpr std::size_t kMaxName = 512, kMaxLine = 4096;  // bytes

  MarkedRanges();
  // For the recorded program's environment: AACO_RANGES, with an empty value where the kernel has no such file.
  [[nodiscard]] std::pair<std::string, std::string> variable() const;
  void drain(trace::Sink& sink);
  // Empty source where nothing was written.
  [[nodiscard]] trace::Account finish(trace::Sink& sink);

 private:
  void take(std::string_view line, trace::Sink& sink);

  core::FileDescriptor file_;
  std::int64_t read_bytes_ = 0;
  std::string rest_;  // a line whose end is not written yet
  trace::Account account_;
};

}  // namespace aaco::workflows
