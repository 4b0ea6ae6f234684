#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "collectors/sampling_loop.h"
#include "runner/loop.h"
#include "trace/session.h"
#include "trace/sink.h"

namespace aaco::workflows {

// Against missed deadlines: of use cases with an option for the period, and of those without.
inline constexpr std::string_view kLongerPeriod = "increase --telemetry-period";
inline constexpr std::string_view kFreeCpu = "free a CPU for AACO, or pass --no-telemetry";

// The collectors of a session as something a measuring loop can switch.
class Telemetry final : public runner::Instrument {
 public:
  // Observes `process_id` and its descendants (0: the machine alone). Begins paused.
  Telemetry(std::int64_t process_id, core::Nanoseconds period);

  core::Status start();
  void resume() override { loop_.resume(); }
  void pause() override { loop_.pause(); }
  // Hands over what was sampled so far: bounds the memory of a long recording.
  void drain(trace::Sink& sink) { loop_.drain(sink); }
  // Ends sampling: rows go to `sink`; accounts and warnings (what could not be observed, and the remedy) into the manifest.
  // `late_remedy`: what helps against missed deadlines.
  void finish(trace::Sink& sink, trace::SessionManifest& manifest, std::string_view late_remedy);

 private:
  collectors::SamplingLoop loop_;
};

}  // namespace aaco::workflows
