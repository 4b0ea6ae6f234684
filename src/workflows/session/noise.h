#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/loop.h"
#include "workflows/session/loop_blocks.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What the sentinel found in a measurement.
struct NoiseFound {
  std::map<std::int64_t, std::string> cause_of_block;  // disturbed blocks
  core::Json document;                                 // of metrics/noise.json; null where nothing could be judged
};

// Judges the blocks, writes metrics/noise.json and warns where any was disturbed. With `drop`, document.dropped says whether the
// disturbed iterations are left out of the metrics; they stay in the tables, marked.
NoiseFound watch_noise(const LoopBlocks& blocks, const std::vector<runner::TimedCall>& calls, bool drop, SessionDraft& draft,
                       const core::Paths& paths);

// What session.json keeps of it: counts, causes and both statistics, without the single marks.
core::Json noise_summary(const core::Json& document);
// Whether a session's numbers are of its undisturbed iterations only.
bool drops_disturbed(const trace::SessionManifest& manifest);
// Leaves the disturbed iterations out where the session's numbers do.
void leave_out_disturbed(const trace::SessionManifest& manifest, std::vector<trace::IterationRow>& iterations);

}  // namespace aaco::workflows
