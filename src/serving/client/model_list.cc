#include "serving/client/model_list.h"

#include <fmt/format.h>

#include "core/json.h"
#include "serving/client/fetch.h"
#include "serving/client/reply_text.h"
#include "serving/secrets.h"

namespace aaco::serving {

core::Result<ModelList> list_models(const Route& route, std::int64_t timeout_ns) {
  AACO_ASSIGN(const Fetched reply, fetch(route, {.path = "/models", .body = {}, .timeout_ns = timeout_ns}));
  ModelList list{.outcome = reply.outcome, .detail = reply.detail, .http_status = {}, .names = {}};
  if (reply.outcome != Outcome::ok) return list;
  list.http_status = reply.status;
  const auto document = core::Json::parse(reply.body);
  if (reply.status == 200 && document && (*document)["data"].is_array()) {
    for (const core::Json& model : (*document)["data"].items())
      if (!model["id"].text().empty()) list.names.emplace_back(model["id"].text());
    return list;
  }
  list.outcome = outcome_of_status(reply.status);
  list.detail = reply.location.empty() ? describe_reply(reply.status, reply.content_type, reply.body, "a list of models")
                                       : fmt::format("HTTP {}: redirected to {}", reply.status, reply.location);
  list.detail = without_secrets(std::move(list.detail), secrets_of(route.target), "");
  return list;
}

}  // namespace aaco::serving
