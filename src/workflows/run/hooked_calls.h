#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/result.h"
#include "hooks/recording.h"
#include "trace/metric.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// `record --hooks`: the GPU runtime calls of a program. Where this build or machine cannot record them, it does nothing, and the
// session says why. Call order: begin, start the program with environment(), drain, finish, then analyse.
class HookedCalls {
 public:
  // `numbered`: for a trace to be joined to the calls.
  HookedCalls(bool with_libraries, bool numbered, const Services& services);

  [[nodiscard]] hooks::Recording::Variables environment() const;
  void set_enabled(bool enabled);
  void drain(trace::Sink& sink);
  // Account and warnings go into the manifest.
  void finish(std::int64_t process_id, SessionDraft& draft);
  // Of the flushed bundle: known idle times of the devices, as rows of gaps with their causes, the levels of the timeline, the
  // outcome's "gpu_calls", and the metrics. `with_gaps`: false where a profiler knows the devices' times better.
  core::Result<trace::Metrics> analyse(SessionDraft& draft, const Services& services, bool with_gaps);

 private:
  std::unique_ptr<hooks::Recording> recording_;
  std::optional<core::Error> refusal_;
  hooks::Recording::Findings findings_;
};

}  // namespace aaco::workflows
