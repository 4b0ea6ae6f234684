#include "workflows/session/metrics_files.h"

#include <array>

#include "core/files.h"

namespace aaco::workflows {

core::Result<trace::Metrics> read_metrics(const std::string& session_path) {
  constexpr std::array<std::string_view, 2> kFiles = {"metrics/inference_summary.json", "metrics/derived_metrics.json"};
  trace::Metrics all;
  for (std::string_view file : kFiles) {
    const std::string path = core::join_path(session_path, file);
    if (!core::exists(path)) continue;
    AACO_ASSIGN(const core::Json document, core::read_json_file(path));
    AACO_ASSIGN(trace::Metrics metrics, trace::metrics_from_json(document["metrics"]));
    all.insert(all.end(), std::make_move_iterator(metrics.begin()), std::make_move_iterator(metrics.end()));
  }
  return all;
}

}  // namespace aaco::workflows
