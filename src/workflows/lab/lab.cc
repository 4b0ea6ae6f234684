#include "workflows/lab.h"

#include <cmath>
#include <optional>

#include "core/files.h"
#include "laboratory/tiny_operators.h"
#include "laboratory/trace_faults.h"
#include "workflows/isolation.h"

namespace aaco::workflows {
namespace {

namespace faults = laboratory::faults;

constexpr double kMaxTinyOperators = 2000;
constexpr double kLargestBatchFactor = 8;

faults::FaultWorld world_of(const Services& services) { return {"/", undo_world(services).folder}; }

core::Status set_batch(RunRequest& run, double intensity) {
  const std::int64_t from = run.batch.value_or(1);
  run.batch = from + std::max<std::int64_t>(1, std::llround(static_cast<double>(from) * (kLargestBatchFactor - 1) * intensity));
  return {};
}

void add_tiny_operators(RunRequest& run, const faults::Fault& fault, const std::string& folder) {
  const auto count = std::max<std::int64_t>(2, std::llround(fault.intensity * kMaxTinyOperators));
  const std::string op_type = fault.generator == "absolute" ? "Abs" : "Neg";
  run.edit_model = [=](const std::string& model) -> core::Result<std::string> {
    const std::string path = core::join_path(folder, core::base_name(model));
    AACO_TRY(faults::append_tiny_operators(model, count, op_type, path));
    return path;
  };
}

// What the run is asked for otherwise. A model that is changed lies in `folder` until the run is over.
core::Status change_request(RunRequest& run, const faults::Fault& fault, const std::string& cache,
                            std::optional<core::TemporaryDirectory>& folder) {
  const std::string& id = fault.kind->id;
  if (id == "fewer_threads") {
    if (run.threads == 1) return core::fail(core::ErrorCode::invalid_argument, "the run already uses one thread");
    run.threads = 1;
  } else if (id == "graph_optimisation_off") {
    run.graph_level = "disabled";
  } else if (id == "data_type") {
    run.dtype = fault.generator;
  } else if (id == "batch_change") {
    return set_batch(run, fault.intensity);
  } else {
    AACO_TRY(core::make_writable_folder(cache, "XDG_CACHE_HOME"));
    AACO_ASSIGN(folder, core::TemporaryDirectory::make(cache, "lab"));
    add_tiny_operators(run, fault, folder->path());
  }
  return {};
}

}  // namespace

core::Result<std::int64_t> clean_up_faults(const Services& services) { return faults::clean_up(world_of(services)); }

core::Result<SessionOutcome> inject(const InjectRequest& request, const Services& services) {
  for (const auto& kind : laboratory::trace_faults::trace_fault_kinds())
    if (kind.id == request.fault)
      return core::fail(core::ErrorCode::invalid_argument, "'" + request.fault + "' applies to traces, not to runs",
                        "use 'aaco lab simulate " + request.fault + " SESSION' with a GPU trace session");
  AACO_ASSIGN(const faults::Fault fault, faults::make_fault(request.fault, request.intensity, request.generator));
  AACO_TRY(clean_up_faults(services));
  RunRequest run_request = request.run;
  run_request.fault = to_json(fault);
  std::optional<core::TemporaryDirectory> folder;
  if (fault.kind->place == faults::Place::request) AACO_TRY(change_request(run_request, fault, services.paths.cache, folder));
  AACO_ASSIGN(const auto injection, faults::inject(fault, world_of(services)));
  if (fault.kind->place == faults::Place::call) run_request.before_call = [&injection = *injection] { injection.before_call(); };
  return run(run_request, services);
}

}  // namespace aaco::workflows
