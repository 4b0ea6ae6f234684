#include "core/clock.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

namespace aaco::core {
namespace {

constexpr std::array<std::pair<ClockId, std::string_view>, 7> kClockNames = {{{ClockId::monotonic, "monotonic"},
                                                                              {ClockId::monotonic_raw, "monotonic_raw"},
                                                                              {ClockId::boottime, "boottime"},
                                                                              {ClockId::realtime, "realtime"},
                                                                              {ClockId::tsc, "tsc"},
                                                                              {ClockId::gpu, "gpu"},
                                                                              {ClockId::trace, "trace"}}};

clockid_t system_id(ClockId id) {
  switch (id) {
    case ClockId::monotonic_raw: return CLOCK_MONOTONIC_RAW;
    case ClockId::boottime: return CLOCK_BOOTTIME;
    case ClockId::realtime: return CLOCK_REALTIME;
    default: return CLOCK_MONOTONIC;
  }
}

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::string_view to_string(ClockId id) {
  for (auto [clock, name] : kClockNames)
    if (clock == id) return name;
  return "unknown";
}

std::optional<ClockId> clock_from_string(std::string_view name) {
  for (auto [clock, known] : kClockNames)
    if (known == name) return clock;
  return std::nullopt;
}

std::int64_t SystemClock::now_ns(ClockId id) const { return read_clock(system_id(id)); }

void SystemClock::sleep_until(std::int64_t deadline_ns) const {
  timespec until{};
  until.tv_sec = deadline_ns / 1'000'000'000;
  until.tv_nsec = deadline_ns % 1'000'000'000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

std::int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

std::string iso8601_utc(std::int64_t realtime_ns) {
  const std::time_t seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace aaco::core
