#include "importers/grouping/lesser_forms.h"

#include <algorithm>

#include "core/files.h"

namespace aaco::importers::grouping {
namespace {

bool says_more(const InputFile& other, const InputFile& lesser) {
  if (lesser.info.name == "jax_trace")
    return other.info.name == "xplane" && core::parent_path(other.path) == core::parent_path(lesser.path);
  return lesser.info.name == "pftrace" && other.info.name != "pftrace" && lesser.place && other.place &&
         other.table != RocmTable::facts && other.place->same_pass(*lesser.place);
}

}  // namespace

void leave_out_lesser_forms(Inputs& inputs) {
  std::vector<PassedFile> passed;
  for (const InputFile& file : inputs.files) {
    const auto fuller =
        std::find_if(inputs.files.begin(), inputs.files.end(), [&](const InputFile& other) { return says_more(other, file); });
    if (fuller != inputs.files.end())
      passed.push_back({file.path, "same run as " + core::base_name(fuller->path) + ", which has more and was imported"});
  }
  std::erase_if(inputs.files, [&](const InputFile& file) {
    return std::any_of(passed.begin(), passed.end(), [&](const PassedFile& one) { return one.path == file.path; });
  });
  inputs.passed.insert(inputs.passed.end(), passed.begin(), passed.end());
}

}  // namespace aaco::importers::grouping
