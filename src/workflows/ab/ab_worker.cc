#include "workflows/ab_worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>

#include "collectors/block_account.h"
#include "core/clock.h"
#include "core/handles.h"
#include "core/resident_memory.h"
#include "workflows/ab/ab_account.h"
#include "workflows/ab/worker_outputs.h"
#include "workflows/placement.h"
#include "workflows/run/loaded_model.h"
#include "workflows/run/run_plan.h"
#include "workflows/worker_answer.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kMaxCalls = 1'000'000;  // of one block
// Of a warm-up that waits for a stationary series: what is left of it falls on both sides of a round alike.
constexpr std::chrono::seconds kMaxWarmup{2};

struct Side {
  RunPlan plan;
  LoadedModel model;
  RunRequest request;
  InjectedDelay delay;
  runner::LoopResult warmup;
  std::int64_t load_ns = 0;

  core::Status call(std::vector<runner::TimedCall>& into) {
    const std::int64_t start = core::monotonic_ns();
    AACO_TRY(model.backend->run_once());
    into.push_back({start, delay.end_of_call(start) - start, 0});
    return {};
  }
};

// The stream of answers; standard output itself is joined with standard error, so that a library's chatter breaks no answer.
class Answers {
 public:
  static core::Result<Answers> take_over() {
    core::FileDescriptor out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!out.valid() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return core::fail_errno(errno, "standard output of the worker");
    return Answers(std::move(out));
  }
  [[nodiscard]] core::Status say(const Json& answer) const {
    const std::string text = answer.dump(-1) + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = ::write(out_.get(), text.data() + sent, text.size() - sent);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return core::fail(ErrorCode::cancelled, "the reader of the worker's output has exited");
      sent += static_cast<std::size_t>(count);
    }
    return {};
  }

 private:
  explicit Answers(core::FileDescriptor out) : out_(std::move(out)) {}
  core::FileDescriptor out_;
};

Json calls_json(const std::vector<runner::TimedCall>& calls) {
  Json starts = Json::array(), durations = Json::array();
  for (const auto& call : calls) {
    starts.push(call.start_ns);
    durations.push(call.duration_ns);
  }
  return Json::object({{"start_ns", std::move(starts)}, {"duration_ns", std::move(durations)}});
}

Json warnings_json(const std::vector<trace::Warning>& warnings) { return trace::to_json(warnings); }

core::Result<Side> prepare(const AbSide& wanted, const Services& services) {
  Side side;
  side.delay = wanted.delay;
  side.request = wanted.request;
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(side.plan, plan_run(wanted.request, services));
  AACO_ASSIGN(side.model, load_model(side.plan, wanted.request, services));
  side.load_ns = core::monotonic_ns() - begin;
  return side;
}

// The loop's own warm-up, and no measured call.
core::Status warm_up(Side& side) {
  stats::StoppingOptions none;
  none.iterations = 1;
  stats::StoppingRule rule(none);
  rule.reserve();
  static const std::atomic<bool> kNever{false};
  std::vector<runner::TimedCall> calls;
  side.plan.loop.warmup_max_time = std::min(side.plan.loop.warmup_max_time, core::Nanoseconds(kMaxWarmup));
  AACO_ASSIGN(side.warmup, runner::measure(
                               [&]() -> core::Status {
                                 calls.clear();
                                 return side.call(calls);
                               },
                               side.plan.loop, rule, nullptr, kNever));
  return {};
}

Json side_json(const Side& side) {
  const Json runtime = side.model.backend->describe();
  const Placement placement = placement_of(side.plan.backend, runtime);
  return Json::object({{"model", side.plan.model_name},
                       {"model_hash", side.plan.model_hash},
                       {"request", side.plan.request},
                       {"provider", placement.provider},
                       {"requested_backend", placement.requested_backend},
                       {"requested_provider", placement.requested_provider},
                       {"threads_intra", side.plan.backend.intra_op_threads},
                       {"threads_inter", side.plan.backend.inter_op_threads},
                       {"graph_level", side.plan.backend.graph_level},
                       {"session_options", session_options_text(side.plan.backend.session_options)},
                       {"backend", placement.backend},
                       {"runtime_version", side.model.runtime_version},
                       {"batch", side.model.batch},
                       {"inputs", side.model.inputs},
                       {"shapes_text", side.model.shapes_text},
                       {"warnings", warnings_json(side.model.warnings)},
                       {"runtime", described(runtime, placement)},
                       {"load_ns", side.load_ns},
                       {"warmup", calls_json(side.warmup.warmup)},
                       {"warmup_reason", side.warmup.warmup_reason},
                       {"warmup_stationary", side.warmup.warmup_verdict.stationary}});
}

core::Result<Json> obey(const std::string& line, std::vector<Side>& sides, collectors::BlockAccount& account) {
  std::istringstream words(line);
  std::string verb;
  std::size_t number = 0;
  std::int64_t calls = 0;
  words >> verb >> number >> calls;
  if (verb == "outputs" && !words.fail() && number < sides.size() && calls >= 0) {
    std::string file;
    std::getline(words >> std::ws, file);
    const Side& side = sides[number];
    AACO_TRY(write_model_outputs(*side.model.backend, side.plan, side.request, static_cast<std::uint64_t>(calls), file));
    return Json::object({{"rss_peak_bytes", core::resident_peak_bytes()}});
  }
  if (words.fail() || verb != "run" || number >= sides.size() || calls < 1 || calls > kMaxCalls)
    return core::fail(ErrorCode::invalid_argument, "unknown worker command: '" + line + "'");
  std::vector<runner::TimedCall> timed;
  timed.reserve(static_cast<std::size_t>(calls));
  trace::LoopBlockRow block;
  account.begin();
  for (std::int64_t i = 0; i < calls; ++i) AACO_TRY(sides[number].call(timed));
  account.end(block);
  Json answer = calls_json(timed);
  answer.set("account", account_json(block));
  answer.set("rss_peak_bytes", core::resident_peak_bytes());
  return answer;
}

core::Result<std::vector<Side>> prepare_all(const std::vector<AbSide>& wanted, const Services& services) {
  std::vector<Side> sides;
  for (const AbSide& one : wanted) {
    AACO_ASSIGN(Side side, prepare(one, services));
    sides.push_back(std::move(side));
  }
  for (Side& side : sides) AACO_TRY(warm_up(side));
  return sides;
}

}  // namespace

core::Status serve_ab(const std::vector<AbSide>& wanted, const Services& services) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the comparison
  AACO_ASSIGN(const Answers answers, Answers::take_over());
  auto sides = prepare_all(wanted, services);
  if (!sides) {
    AACO_TRY(answers.say(error_answer(sides.error())));
    return tl::unexpected<core::Error>(sides.error());
  }
  Json ready = Json::array();
  for (const Side& side : *sides) ready.push(side_json(side));
  AACO_TRY(answers.say(Json::object({{"sides", std::move(ready)}, {"rss_peak_bytes", core::resident_peak_bytes()}})));
  const auto account = collectors::BlockAccount::open({}, ::getpid(), ::gettid());
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = obey(line, *sides, *account);
    AACO_TRY(answers.say(answer ? *answer : error_answer(answer.error())));
    if (!answer) return tl::unexpected<core::Error>(answer.error());
  }
  return {};
}

}  // namespace aaco::workflows
