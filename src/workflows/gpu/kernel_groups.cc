#include "workflows/gpu/kernel_groups.h"

#include <algorithm>

namespace aaco::workflows {

using analytics::fingerprint::Family;

Family KernelGroups::add(const trace::KernelRow& row) {
  const auto [place, fresh] = known_.try_emplace(row.name.value);
  Known& known = place->second;
  if (fresh) {
    const auto print = book_.classify(names_.text(row.name));
    known.family = print.family;
    known.family_name = names_.intern(to_string(print.family));
    known.library = names_.intern(print.library);
    if (!print.parameters.is_null()) known.parameters = names_.intern(print.parameters.dump(-1));
  }
  const std::int64_t duration = std::max<std::int64_t>(0, row.end_ns - row.start_ns);
  auto [group, is_new] = groups_.try_emplace({row.rank, row.device, row.name.value});
  trace::KernelGroupRow& sum = group->second;
  if (is_new) {
    sum.rank = row.rank;
    sum.device = row.device;
    sum.kernel_name = row.name;
    sum.family = known.family_name;
    sum.library = known.library;
    sum.parameters = known.parameters;
    sum.kernel_min_ns = sum.kernel_max_ns = duration;
  }
  ++sum.kernel_count;
  sum.kernel_sum_ns += duration;
  sum.kernel_min_ns = std::min(sum.kernel_min_ns, duration);
  sum.kernel_max_ns = std::max(sum.kernel_max_ns, duration);
  return known.family;
}

std::vector<trace::KernelGroupRow> KernelGroups::rows() const {
  std::vector<trace::KernelGroupRow> rows;
  for (const auto& [key, row] : groups_) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.kernel_sum_ns > b.kernel_sum_ns; });
  return rows;
}

std::int64_t KernelGroups::known_family_ns(const std::pair<std::int32_t, std::int64_t>& device) const {
  std::int64_t sum = 0;
  for (const auto& [key, row] : groups_)
    if (row.rank == device.first && row.device == device.second && known_.at(std::get<2>(key)).family != Family::other)
      sum += row.kernel_sum_ns;
  return sum;
}

}  // namespace aaco::workflows
