#include "workflows/session_report/short_names.h"

#include "analytics/short_name.h"

namespace aaco::workflows {

void name_shortly(std::vector<report::TimeShare>& kernels) {
  using analytics::fingerprint::Family;
  std::vector<analytics::fingerprint::NamedKernel> named;
  for (const report::TimeShare& kernel : kernels)
    named.push_back(
        {kernel.name, analytics::fingerprint::family_from_string(kernel.group).value_or(Family::other), kernel.detail});
  const std::vector<std::string> shown = analytics::fingerprint::short_names(named);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].short_name = shown[i];
}

}  // namespace aaco::workflows
