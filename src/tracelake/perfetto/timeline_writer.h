#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"

namespace aaco::tracelake::perfetto {

// A number given out by the writer; 0: none.
using TrackId = std::uint64_t;

// A row of the timeline, or a heading over some.
struct TrackInfo {
  enum class Kind { process, thread, group, slices, counter } kind = Kind::slices;
  std::string name;
  TrackId parent = 0;
  std::int64_t process_id = 0;  // of a process or thread
  std::int64_t thread_id = 0;   // of a thread
  std::string unit;             // of a counter: ns, bytes, W ...
};

struct Argument {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

struct Slice {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string_view name;
  std::string_view category;
  std::span<const Argument> arguments;
  std::uint64_t flow = 0;  // slices with the same number are joined by an arrow, in time order; 0: none
  bool flow_target = false;
};

// A file format for timelines. On one track begin() and end() alternate like brackets, times never go back, and all are >= 0. It
// keeps the first error and answers it from finish().
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;
  virtual TrackId add_track(const TrackInfo& info) = 0;
  virtual void begin(TrackId track, const Slice& slice) = 0;
  virtual void end(TrackId track, std::int64_t time_ns) = 0;
  virtual void counter(TrackId track, std::int64_t time_ns, double value) = 0;
  virtual core::Status finish() = 0;
};

}  // namespace aaco::tracelake::perfetto
