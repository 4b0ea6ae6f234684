#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "workflows/optimize.h"
#include "workflows/optimize/proof.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kReplayWarmup = 50;

}  // namespace

core::Result<OptimizeOutcome> replay(const OptimizeRequest& asked, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  OptimizeRequest request = asked;
  if (!core::exists(core::join_path(request.folder, "result.json")))
    return core::fail(core::ErrorCode::not_found, request.folder + " is not the folder of a search: it has no result.json",
                      "use the folder that 'aaco optimize -o' wrote");
  AACO_ASSIGN(const core::Json result, core::read_json_file(core::join_path(request.folder, "result.json")));
  RunRequest candidate;
  if (!core::exists(core::join_path(request.folder, "best.yaml")))
    return core::fail(core::ErrorCode::not_found, request.folder + " has no best.yaml: its search proved no gain",
                      "search again: aaco optimize MODEL -o DIR");
  AACO_TRY(read_run_config(core::join_path(request.folder, "best.yaml"), candidate));
  AACO_TRY(read_run_config(core::join_path(request.folder, "baseline.yaml"), request.base));
  request.objective = result["for"].text();
  request.threshold_ratio = result["threshold_ratio"].as_f64().value_or(request.threshold_ratio);
  OptimizeOutcome outcome;
  services.progress("proving " + std::string(result["proof"]["configuration"].text()) + " again");
  AACO_ASSIGN(outcome.proof, prove(request, candidate, std::string(result["proof"]["configuration"].text()), request.budget,
                                   kReplayWarmup, services));
  outcome.inputs = "outputs not compared again";
  outcome.interrupted = services.stopping();
  outcome.wall_ns = core::monotonic_ns() - begin;
  conclude(request, outcome);
  return outcome;
}

}  // namespace aaco::workflows
