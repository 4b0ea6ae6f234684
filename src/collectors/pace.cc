#include "collectors/pace.h"

#include <algorithm>

namespace aaco::collectors {

core::Nanoseconds affordable_period(core::Nanoseconds asked, core::Nanoseconds cpu, std::int64_t samples) {
  if (samples <= 0) return asked;
  const double needed_ns = static_cast<double>(cpu.count()) / static_cast<double>(samples) / kMaxSamplingShare;
  const auto period = static_cast<std::int64_t>(std::min(needed_ns, static_cast<double>(kMaxStretch * asked.count())));
  return std::max(asked, core::Nanoseconds(period));
}

}  // namespace aaco::collectors
