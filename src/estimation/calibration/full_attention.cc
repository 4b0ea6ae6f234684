#include "estimation/calibration/full_attention.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace aaco::estimation {
namespace {

// Repeated runs of one shape differ by less: 3 % at p90 on an H100, where no window can matter.
constexpr double kRepeatable = 0.95;

using Shape = std::tuple<std::string, bool, std::int64_t, std::int64_t, std::int64_t, std::string>;

}  // namespace

std::vector<bool> full_attention(std::span<const Measurement> measurements, std::span<const std::size_t> rows,
                                 std::span<const TimedRoofline> timed) {
  std::map<Shape, double> slowest;
  std::vector<double*> slowest_of(rows.size(), nullptr);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Kernel& kernel = measurements[rows[i]].kernel;
    const auto* s = std::get_if<AttentionShape>(&kernel.shape);
    if (s == nullptr || !kernel.program.empty()) continue;  // tables that name the kernel name the window
    slowest_of[i] = &slowest[{site_of(kernel), s->prefill, s->batch, s->query, s->past, s->kv_type}];
    *slowest_of[i] = std::max(*slowest_of[i], timed[i].seconds);
  }
  std::set<std::string> windowed;  // sites whose slowest rows are still faster than the device can compute
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (slowest_of[i] != nullptr && *slowest_of[i] < timed[i].roof.compute_s)
      windowed.insert(site_of(measurements[rows[i]].kernel));
  std::vector<bool> full(rows.size(), true);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (slowest_of[i] != nullptr)
      full[i] = timed[i].seconds >= kRepeatable * *slowest_of[i] && !windowed.contains(site_of(measurements[rows[i]].kernel));
  return full;
}

}  // namespace aaco::estimation
