#include "workflows/compiler.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

using core::Json;

core::Result<SessionOutcome> store_compiler(const Json& document, const CompilerRequest& request, const Services& services) {
  Json asked = Json::object({{"model", request.run.model}, {"graph_level", request.run.graph_level}});
  if (!request.against.empty()) asked.set("against", request.against);
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("compiler", request.run.tag, std::move(asked), services));
  AACO_TRY(draft.writer().write_json("metrics/compiler.json", document));
  draft.manifest().outcome.model = document["model"].text();
  draft.manifest().outcome.provider = document["runtime"]["provider"].text();
  return draft.finish({}, false);
}

}  // namespace aaco::workflows
