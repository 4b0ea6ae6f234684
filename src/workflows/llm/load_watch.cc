#include "workflows/llm/load_watch.h"

#include <unistd.h>

#include <chrono>

#include "core/clock.h"
#include "workflows/llm/server.h"
#include "workflows/run/scheduler_plane.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

constexpr core::Nanoseconds kTelemetryPeriod{
    100'000'000};  // ten times a second: the client shares its machine with the collectors
// Of the server's own process: the wait of a single token is to be seen.
constexpr core::Nanoseconds kServerPeriod{50'000'000};
constexpr std::chrono::milliseconds kDrainPeriod{200};

}  // namespace

struct LoadWatch::Collectors {
  std::optional<Telemetry> telemetry;
  std::optional<SchedulerPlane> plane;
  std::atomic<bool> done = false;
  std::thread drainer;

  void drain_into(trace::Sink& sink) {
    drainer = std::thread([this, &sink] {
      while (!done) {
        std::this_thread::sleep_for(kDrainPeriod);
        if (telemetry) telemetry->drain(sink);
        if (plane) plane->drain(sink);
      }
    });
  }
  void end() {
    done = true;
    if (drainer.joinable()) drainer.join();
  }
  ~Collectors() { end(); }
};

LoadWatch::LoadWatch() : collectors_(std::make_unique<Collectors>()) {}
LoadWatch::LoadWatch(LoadWatch&&) noexcept = default;
LoadWatch::~LoadWatch() = default;

core::Result<LoadWatch> LoadWatch::find(const LlmPlan& plan, const LlmRequest& request, const Services& services) {
  LoadWatch watch;
  watch.server_ = server_process(plan.target);
  watch.telemetry_ = request.telemetry;
  watch.scheduler_ = request.ebpf;
  if (request.ebpf && !watch.server_)
    return core::fail(core::ErrorCode::invalid_argument, "--ebpf requires a server on this machine whose process is visible",
                      "record the server on its machine (aaco record --pid PID --ebpf) and use --observe");
  if (request.read_server_metrics) {
    AACO_ASSIGN(watch.metrics_, ServerWatch::find(plan.target, request.server_metrics, services));
  }
  return watch;
}

core::Status LoadWatch::start(SessionDraft& draft) {
  // The scheduler first: what it costs to attach is over before the load begins.
  if (scheduler_) {
    collectors_->plane.emplace(*server_, true);
    collectors_->plane->resume();
  }
  if (telemetry_) {
    collectors_->telemetry.emplace(server_.value_or(::getpid()), server_ ? kServerPeriod : kTelemetryPeriod);
    AACO_TRY(collectors_->telemetry->start());
    collectors_->telemetry->resume();
  }
  if (telemetry_ || scheduler_) collectors_->drain_into(draft.sink());
  if (metrics_) metrics_->start();
  return {};
}

void LoadWatch::finish(SessionDraft& draft) {
  collectors_->end();
  if (collectors_->telemetry) collectors_->telemetry->finish(draft.sink(), draft.manifest(), kFreeCpu);
  if (collectors_->plane) {
    collectors_->plane->finish(draft.sink(), draft.manifest());
    if (const auto stored = store_stacks(*collectors_->plane, draft.writer()); !stored)
      draft.warn("ebpf.no_stacks", "the stacks of waiting threads were not stored: " + stored.error().message,
                 stored.error().remedy);
  }
  if (metrics_) metrics_->finish(draft.sink());
}

}  // namespace aaco::workflows
