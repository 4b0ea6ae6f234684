#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::core {

// The clock a time was read from. monotonic is the home clock: everything stored is converted to it where that is possible.
enum class ClockId : std::uint8_t { monotonic, monotonic_raw, boottime, realtime, tsc, gpu, trace };

std::string_view to_string(ClockId id);
std::optional<ClockId> clock_from_string(std::string_view name);

// A point in time. Points of different clocks do not compare; trace::ClockGraph converts.
struct TimePoint {
  ClockId clock = ClockId::monotonic;
  std::int64_t ns = 0;
  bool operator==(const TimePoint&) const = default;
};

// Where time is read; tests put their own in its place.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds of the system clock `id` (monotonic, monotonic_raw, boottime or realtime).
  [[nodiscard]] virtual std::int64_t now_ns(ClockId id) const = 0;
  // Returns when the monotonic clock has reached `deadline_ns`, or early when a signal arrives.
  virtual void sleep_until(std::int64_t deadline_ns) const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns(ClockId id) const override;
  void sleep_until(std::int64_t deadline_ns) const override;
};

// The monotonic clock, for the places where an indirect call would be measured.
std::int64_t monotonic_ns();

// A realtime point as "2026-11-21T08:15:30Z".
std::string iso8601_utc(std::int64_t realtime_ns);

}  // namespace aaco::core
