#pragma once

#include "core/json.h"
#include "trace/session.h"

namespace aaco::workflows {

// Of an import in which nothing could be judged: a document like metrics/bottleneck.json, inconclusive, whose cause says what the
// files contain instead. Null where that is not clear from the counts of the import.
core::Json nothing_to_judge(const trace::SessionManifest& manifest);

}  // namespace aaco::workflows
