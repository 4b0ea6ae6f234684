#include "collectors/proc/cpu_range.h"

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::collectors::proc {

double online_cpus(const SysRoot& root) {
  const auto text = core::read_file(root.at("/sys/devices/system/cpu/online"));
  if (!text) return 0;
  double count = 0;
  for (const std::string_view part : core::split(core::trim(*text), ',')) {  // "0-3,8"
    const auto dash = part.find('-');
    const auto first = core::parse_i64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : core::parse_i64(part.substr(dash + 1));
    if (!first || !last || *last < *first) return 0;
    count += static_cast<double>(*last - *first + 1);
  }
  return count;
}

}  // namespace aaco::collectors::proc
