#include "workflows/query_worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <iostream>
#include <new>

#include "core/numbers.h"
#include "core/worker_process.h"
#include "workflows/worker_answer.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr core::Nanoseconds kGrace{2'000'000'000};  // for starting, and for an interrupt to end the query in good order

auto too_much_memory() {
  return core::fail(ErrorCode::exhausted,
                    "the query needs more than " + core::format_bytes(static_cast<double>(kQueryMemoryBytes)) + " of memory",
                    "filter on session_id or date, or aggregate; 'aaco query' has no such limit");
}

core::Status limit_memory() {
  const rlimit limit{kQueryMemoryBytes, kQueryMemoryBytes}, no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? core::Status() : core::fail_errno(errno, "cannot limit the query's memory");
}

core::Result<Json> answer_of(const std::string& line, const core::Paths& paths) {
  AACO_ASSIGN(const Json request, Json::parse(line));
  QueryLimits limits;
  limits.rows = static_cast<std::size_t>(request["rows"].as_i64().value_or(0));
  limits.bytes = static_cast<std::size_t>(request["bytes"].as_i64().value_or(0));
  limits.time = core::Nanoseconds(request["time_ns"].as_i64().value_or(0));
  try {
    auto answer = query_rows(std::string(request["sql"].text()), limits, paths);
    if (!answer && answer.error().message.starts_with("Out of Memory")) return too_much_memory();
    AACO_TRY(answer);
    return Json::object({{"truncated", answer->truncated}, {"rows", std::move(answer->rows)}});
  } catch (const std::bad_alloc&) {
    return too_much_memory();
  }
}

}  // namespace

core::Result<QueryRows> query_in_worker(const std::string& sql, const QueryLimits& limits,
                                        const std::vector<std::string>& worker) {
  core::Command command;
  command.arguments = worker;
  AACO_ASSIGN(auto process, core::WorkerProcess::start(command));
  const Json request = Json::object(
      {{"sql", sql}, {"rows", limits.rows}, {"bytes", limits.bytes}, {"time_ns", static_cast<long long>(limits.time.count())}});
  AACO_TRY(process.send(request.dump(-1)));
  auto answer = worker_answer(process, (limits.time + kGrace).count());
  if (!answer && answer.error().code == ErrorCode::timed_out) return query_too_slow(limits.time);
  AACO_TRY(answer);
  return QueryRows{(*answer)["rows"], (*answer)["truncated"].as_bool().value_or(false)};
}

core::Status serve_query(const core::Paths& paths) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the server
  AACO_TRY(limit_memory());
  std::string line;
  std::getline(std::cin, line);
  const auto answer = answer_of(line, paths);
  std::cout << (answer ? *answer : error_answer(answer.error())).dump(-1) << std::endl;
  return {};
}

}  // namespace aaco::workflows
