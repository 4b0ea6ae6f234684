#include "report/time_shares.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "report/terminal.h"
#include "trace/kernel_name.h"

namespace aaco::report {

std::vector<TimeShare> merged_by_name(const std::vector<TimeShare>& list) {
  std::map<std::string_view, std::size_t> place;
  std::vector<TimeShare> out;
  for (const TimeShare& share : list) {
    const auto [at, fresh] = place.try_emplace(share.name, out.size());
    if (fresh) {
      out.push_back(share);
      continue;
    }
    TimeShare& sum = out[at->second];
    sum.total_ns += share.total_ns;
    sum.share_ratio += share.share_ratio;
    sum.count += share.count;
  }
  std::stable_sort(out.begin(), out.end(), [](const TimeShare& a, const TimeShare& b) { return a.total_ns > b.total_ns; });
  return out;
}

std::vector<std::string> names_for(const std::vector<std::string>& names, int width) {
  std::vector<std::string> shown;
  std::map<std::string, std::set<std::string_view>> meant;
  for (const std::string& name : names) {
    shown.push_back(display_width(name) > width ? trace::short_kernel_name(name) : name);
    meant[shown.back()].insert(name);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (meant[shown[i]].size() > 1) shown[i] = names[i];
  return shown;
}

}  // namespace aaco::report
