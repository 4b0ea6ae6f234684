#include "workflows/import/unseen_kernels.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include "trace/api_domains.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

bool is_launch(std::string_view domain, std::string_view name) {
  return trace::is_gpu_runtime(domain) && name.find("Launch") != std::string_view::npos &&
         name.find("HostFunc") == std::string_view::npos;
}

}  // namespace

core::Result<std::int64_t> count_launches(const std::string& session_path) {
  trace::NameTable names;
  std::unordered_map<std::uint64_t, bool> known;
  std::int64_t count = 0;
  AACO_TRY(
      tracelake::scan_table<trace::ApiCallRow>(session_path, names, [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
        for (const auto& row : rows) {
          const auto [place, fresh] = known.try_emplace((std::uint64_t{row.domain.value} << 32U) | row.name.value);
          if (fresh) place->second = is_launch(names.text(row.domain), names.text(row.name));
          count += place->second ? 1 : 0;
        }
        return {};
      }));
  return count;
}

void warn_of_unseen_kernels(std::int64_t launches, const importers::grouping::Inputs& inputs, SessionDraft& draft) {
  const auto& said = draft.manifest().warnings;
  if (std::any_of(said.begin(), said.end(), [](const trace::Warning& each) { return each.id == "import.no_kernels"; })) return;
  const auto known =
      std::find_if(inputs.files.begin(), inputs.files.end(), [](const auto& file) { return !file.info.without_kernels.empty(); });
  draft.warn(
      "import.no_kernels",
      "the files contain " + std::to_string(launches) +
          " kernel launches but no kernels: busy time, gaps and causes are unavailable",
      known != inputs.files.end() ? known->info.without_kernels : "also trace kernels, and import that file together with these");
}

}  // namespace aaco::workflows
