#include "workflows/run_work.h"

#include <algorithm>
#include <map>

#include "tracelake/lake.h"
#include "workflows/gpu_roofline.h"
#include "workflows/predict/session_estimates.h"
#include "workflows/session_report/report_attainable.h"
#include "workflows/session_report/report_shares.h"

namespace aaco::workflows {
namespace {

core::Result<std::vector<RunWork>> of_processor(const std::string& session_path, const trace::SessionManifest& manifest) {
  std::vector<RunWork> out;
  AACO_ASSIGN(const SessionEstimates estimates, read_estimates(session_path));
  if (estimates.nodes.empty() || !estimates.summary.is_object()) return out;
  LoadedSession loaded(session_path);
  report::ReportModel model;
  model.session = manifest;
  AACO_TRY(fill_node_shares(model, loaded, 0));
  fill_attainable(model, estimates);
  if (!model.roofline) return out;
  const auto threads = manifest.outcome.threads.value_or(0);
  const double cores = estimates.summary["units"].as_f64().value_or(0);
  out.push_back({std::string(estimates.summary["device"].text()), std::string(estimates.summary["device_name"].text()),
                 threads > 0 && static_cast<double>(threads) < cores ? threads : 0, std::move(model.roofline->points)});
  return out;
}

}  // namespace

core::Result<std::vector<RunWork>> run_work(const std::string& session_path, const trace::SessionManifest& manifest) {
  AACO_ASSIGN(std::vector<RunWork> out, of_processor(session_path, manifest));
  std::map<std::string, RunWork> gpus;
  for (const core::Json& gpu : manifest.outcome.gpu["gpus"].items()) {
    const core::Json& stored = gpu["roofline"];
    const std::string id(stored["device_id"].text());
    auto points = roofline_points(stored);
    if (id.empty() || points.empty()) continue;
    RunWork& work = gpus[id];
    work.device_id = id;
    work.device_name = stored["device_name"].text();
    std::move(points.begin(), points.end(), std::back_inserter(work.points));
  }
  for (auto& [id, work] : gpus) out.push_back(std::move(work));
  return out;
}

}  // namespace aaco::workflows
