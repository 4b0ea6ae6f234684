#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analytics/scheduling.h"
#include "analytics/sleep_causes.h"
#include "collectors/scheduler_watch.h"
#include "core/json.h"
#include "runner/loop.h"
#include "trace/session.h"
#include "trace/sink.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {

// The eBPF plane of a session. Where the build, the kernel or the permission does not allow it, it does nothing, and finish()
// says why and what would help: the run goes on.
class SchedulerPlane final : public runner::Instrument {
 public:
  // Watches `process_id` and its descendants; without itself: what it starts until stop_adopting(). Begins paused.
  SchedulerPlane(std::int64_t process_id, bool with_itself);

  [[nodiscard]] bool watches() const { return watch_ != nullptr; }
  void resume() override;
  void pause() override;
  void stop_adopting();
  // Bounds the memory of a long recording.
  void drain(trace::Sink& sink);
  // Where rows go besides the sink.
  struct Joins {
    analytics::scheduling::IterationJoin& iterations;
    analytics::scheduling::SleepCauses& sleep;
  };
  // The stacks of waiting threads as folded text (docs/how_to/watch_the_operating_system.md); empty before finish().
  [[nodiscard]] const std::string& folded_stacks() const { return folded_stacks_; }
  // Ends watching: rows go to `sink`, and into `joins` where there are any; account and warnings into the manifest.
  void finish(trace::Sink& sink, trace::SessionManifest& manifest, const Joins* joins = nullptr);

 private:
  std::unique_ptr<collectors::SchedulerWatch> watch_;
  std::optional<core::Error> refusal_;
  std::string folded_stacks_;
};

inline constexpr const char* kOffCpuFile = "telemetry/off_cpu.folded";
// Where the threads waited, into the session; call after finish(). Nothing where no stack was heard.
core::Status store_stacks(const SchedulerPlane& plane, tracelake::BundleWriter& writer);

// Several instruments as one.
class Instruments final : public runner::Instrument {
 public:
  void add(runner::Instrument* instrument) { instruments_.push_back(instrument); }
  void resume() override {
    for (auto* each : instruments_) each->resume();
  }
  void pause() override {
    for (auto* each : instruments_) each->pause();
  }
  // For a measuring loop: null where there is none.
  runner::Instrument* get() { return instruments_.empty() ? nullptr : this; }

 private:
  std::vector<runner::Instrument*> instruments_;
};

// What happened in each of these calls, in their order, and what the caller slept for in all of them.
struct WatchedCalls {
  std::vector<analytics::scheduling::IterationSums> sums;
  trace::Metrics sleep;
};
// `plane` ends with it. Empty where the plane did not watch.
WatchedCalls finish_with_calls(SchedulerPlane& plane, std::span<const runner::TimedCall> calls, std::int64_t process_id,
                               std::int64_t caller, trace::Sink& sink, trace::SessionManifest& manifest);

}  // namespace aaco::workflows
