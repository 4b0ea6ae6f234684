#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analytics/bottleneck.h"
#include "analytics/rootcause.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/session.h"
#include "workflows/services.h"
#include "workflows/session/loaded_session.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What a stored (or open) session says of itself, ready to be judged. It does not move: `side` refers to its names.
struct SessionFacts {
  std::shared_ptr<trace::NameTable> names;
  analytics::rootcause::Side side;
  std::vector<double> iterations;  // measured ones in order, ns
};
core::Result<std::unique_ptr<SessionFacts>> session_facts(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                                          const trace::Metrics& metrics);

// Rules and learned models that came with the program. A learned model that is absent is left out; one that is damaged is an
// error.
struct Judges {
  analytics::bottleneck::RuleBook book;
  std::optional<analytics::bottleneck::LearnedModel> bottleneck, cause;
};
core::Result<Judges> load_judges(const core::Paths& paths);

// metrics/bottleneck.json of a session; null where nothing was measured that could tell.
core::Result<core::Json> bottleneck_document(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                             const trace::Metrics& metrics, const core::Paths& paths);

// Judges an open session (flush() first) and keeps the answer in it. A judgement that fails is a warning: the evidence stays.
void write_bottleneck(SessionDraft& draft, LoadedSession& loaded, const trace::Metrics& metrics, const core::Paths& paths);

}  // namespace aaco::workflows
