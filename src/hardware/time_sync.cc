#include "hardware/time_sync.h"

#include <sys/timex.h>

namespace aaco::hardware {

std::optional<TimeSync> read_time_sync() {
  timex state{};  // modes 0: reads only
  const int answer = ::adjtimex(&state);
  if (answer < 0) return std::nullopt;
  return TimeSync{answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0, static_cast<std::int64_t>(state.maxerror) * 1000};
}

}  // namespace aaco::hardware
