#include "workflows/import/unseen_kernels.h"

#include <algorithm>
#include <string>

namespace aaco::workflows {

void warn_of_unseen_kernels(std::int64_t launches, const importers::grouping::Inputs& inputs, SessionDraft& draft) {
  const auto& said = draft.manifest().warnings;
  if (std::any_of(said.begin(), said.end(), [](const trace::Warning& each) { return each.id == "import.no_kernels"; })) return;
  const auto known =
      std::find_if(inputs.files.begin(), inputs.files.end(), [](const auto& file) { return !file.info.without_kernels.empty(); });
  draft.warn(
      "import.no_kernels",
      "the files contain " + std::to_string(launches) + (launches == 1 ? " kernel launch" : " kernel launches") +
          " but no kernels: busy time, gaps and causes are unavailable",
      known != inputs.files.end() ? known->info.without_kernels : "also trace kernels, and import that file together with these");
}

}  // namespace aaco::workflows
