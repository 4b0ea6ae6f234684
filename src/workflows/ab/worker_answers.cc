#include "workflows/ab/worker_answers.h"

namespace aaco::workflows {

using core::ErrorCode;
using core::Json;

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
