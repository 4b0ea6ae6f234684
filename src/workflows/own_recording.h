#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/units.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

struct OwnRecordingRequest {
  std::string name;  // of what is recorded: "train.py", a function
  std::string tag;
  core::Nanoseconds telemetry_period{10'000'000};
};

// What a profiler within this process wrote, and what leads from its clock to CLOCK_MONOTONIC.
struct OwnTrace {
  std::string path;
  std::int64_t shift_ns = 0;
};

// Observes this process and its children from begin() to finish(), for programs that record a part of themselves. Any thread may
// add ranges; finish() is called once, after the last of them. Without a call of finish() the session stays incomplete.
class OwnRecording {
 public:
  static core::Result<std::unique_ptr<OwnRecording>> begin(const OwnRecordingRequest& request, const Services& services);
  virtual ~OwnRecording() = default;

  [[nodiscard]] virtual const std::string& session_id() const = 0;
  // A range of a thread between two times of CLOCK_MONOTONIC; it lands on the timeline as a marker.
  virtual void range(std::string_view name, std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) = 0;
  // `interrupted`: what was recorded ended early. `trace`: its rows become rows of the session; one that cannot be read is a
  // warning.
  virtual core::Result<SessionOutcome> finish(bool interrupted, const std::optional<OwnTrace>& trace) = 0;
};

}  // namespace aaco::workflows
