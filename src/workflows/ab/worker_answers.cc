#include "workflows/ab/worker_answers.h"

#include <string>

namespace aaco::workflows {

using core::ErrorCode;
using core::Json;

core::Result<Json> worker_answer(core::WorkerProcess& process, std::int64_t timeout_ns) {
  AACO_ASSIGN(const std::string line, process.receive(timeout_ns));
  AACO_ASSIGN(Json document, Json::parse(line));
  const Json& error = document["error"];
  if (error.is_null()) return document;
  const auto code = error["code"].as_i64().value_or(static_cast<int>(ErrorCode::io));
  return core::fail(static_cast<ErrorCode>(code), std::string(error["message"].text()), std::string(error["remedy"].text()));
}

core::Result<std::vector<runner::TimedCall>> worker_calls(const Json& document) {
  const auto& starts = document["start_ns"].items();
  const auto& durations = document["duration_ns"].items();
  if (starts.size() != durations.size()) return core::fail(ErrorCode::io, "the worker returned incomplete call records");
  std::vector<runner::TimedCall> calls;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto start = starts[i].as_i64(), duration = durations[i].as_i64();
    if (!start || !duration || *duration < 0) return core::fail(ErrorCode::io, "the worker returned an invalid duration");
    calls.push_back({*start, *duration, 0});
  }
  return calls;
}

}  // namespace aaco::workflows
