#include "workflows/worker_answer.h"

#include <string>

namespace aaco::workflows {

using core::Json;

core::Result<Json> worker_answer(core::WorkerProcess& process, std::int64_t timeout_ns) {
  AACO_ASSIGN(const std::string line, process.receive(timeout_ns));
  AACO_ASSIGN(Json document, Json::parse(line));
  const Json& error = document["error"];
  if (error.is_null()) return document;
  const auto code = error["code"].as_i64().value_or(static_cast<int>(core::ErrorCode::io));
  return core::fail(static_cast<core::ErrorCode>(code), std::string(error["message"].text()),
                    std::string(error["remedy"].text()));
}

Json error_answer(const core::Error& error) {
  return Json::object(
      {{"error", Json::object({{"code", static_cast<int>(error.code)}, {"message", error.message}, {"remedy", error.remedy}})}});
}

}  // namespace aaco::workflows
