#include "workflows/session_json.h"

namespace aaco::workflows {

using core::Json;

Json session_json(const SessionOutcome& outcome) {
  Json accounts = Json::array();
  for (const auto& account : outcome.manifest.accounts) accounts.push(to_json(account));
  return Json::object({{"schema_version", 1},
                       {"session", Json::object({{"id", outcome.manifest.id.text},
                                                 {"path", outcome.path},
                                                 {"kind", outcome.manifest.kind},
                                                 {"state", outcome.manifest.state},
                                                 {"tag", outcome.manifest.tag},
                                                 {"fingerprint", outcome.manifest.fingerprint}})},
                       {"outcome", trace::to_json(outcome.manifest.outcome)},
                       {"account", std::move(accounts)},
                       {"warnings", to_json(outcome.manifest.warnings)},
                       {"metrics", to_json(outcome.metrics)}});
}

}  // namespace aaco::workflows
