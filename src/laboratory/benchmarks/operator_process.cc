#include "laboratory/benchmarks/operator_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "laboratory/benchmarks/visit_times.h"

namespace aaco::laboratory::benchmarks {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kStartTimeout = 300'000'000'000;  // a first import reads gigabytes of libraries
constexpr std::int64_t kBatches = 8;                     // requests that a visit's time is cut into
constexpr std::int64_t kMaxCallsAsked = 2000;
constexpr std::int64_t kMinTimes = 5;
constexpr double kPowerNs = 10e6;  // asked for at once while power is read

// As many calls as fit into `left_ns`, within what is asked for at once.
std::int64_t calls_for(double left_ns, double call_ns) {
  return std::clamp(static_cast<std::int64_t>(left_ns / call_ns), std::int64_t{1}, kMaxCallsAsked);
}

tl::unexpected<core::Error> strange(const Json& answer) {
  return core::fail(ErrorCode::invalid_input, "unexpected response from the worker process: " + answer.dump(-1).substr(0, 200));
}

tl::unexpected<core::Error> stopped(const BenchmarkVisit& visit) {
  return core::fail(ErrorCode::cancelled, "stopped by the user while measuring " + visit.one.id);
}

}  // namespace

tl::unexpected<core::Error> OperatorProcess::unsupported(std::string_view why, std::string_view remedy) const {
  return core::fail(ErrorCode::unsupported, fmt::format("{}: {}", options_.what, why),
                    remedy.empty() ? options_.remedy : std::string(remedy));
}

core::Result<Json> OperatorProcess::start() {
  core::Command command;
  command.arguments = options_.command;
  auto worker = core::WorkerProcess::start(command);
  if (!worker) return unsupported(worker.error().message, "");
  worker_ = std::make_unique<core::WorkerProcess>(std::move(*worker));
  const auto line = worker_->receive(kStartTimeout);
  const auto hello = line ? Json::parse(*line) : core::Result<Json>(tl::unexpected<core::Error>(line.error()));
  if (hello && (*hello)["ready"].as_bool().value_or(false)) return *hello;
  worker_.reset();
  if (!hello) return unsupported(hello.error().message, "");
  return unsupported((*hello)["error"].text(), (*hello)["remedy"].text());
}

core::Status OperatorProcess::visit(const BenchmarkSuite& suite, BenchmarkVisit& visit) {
  if (!worker_) {
    if (const auto again = start(); !again) return tl::unexpected<core::Error>(again.error());
  }
  AACO_ASSIGN(const Json made, ask(Json::object({{"make", to_json(visit.one)}})));
  const auto repeats = made["repeats"].as_i64();
  if (!repeats || *repeats < 1) return strange(made);
  AACO_TRY(measure(suite, visit));
  for (double* time : {&visit.median_ns, &visit.lowest_ns, &visit.p90_ns}) *time /= static_cast<double>(*repeats);
  return {};
}

core::Result<Json> OperatorProcess::ask(const Json& request) {
  auto line = [&]() -> core::Result<std::string> {
    AACO_TRY(worker_->send(request.dump(-1)));
    return worker_->receive(options_.answer_ns);
  }();
  if (!line) {  // it is gone, or hangs: the next case has a new one
    worker_.reset();
    return tl::unexpected<core::Error>(line.error());
  }
  auto parsed = Json::parse(*line);
  if (!parsed) {
    worker_.reset();
    return strange(Json(*line));
  }
  Json answer = std::move(*parsed);
  if (answer["ends"].as_bool().value_or(false)) worker_.reset();
  if (const auto why = answer["error"].text(); !why.empty())
    return core::fail(ErrorCode::unsupported, std::string(why), std::string(answer["remedy"].text()));
  return answer;
}

// `count` times of a call, each a mean over `group_` calls; the wall's time of one goes to `call_ns`.
core::Result<std::vector<double>> OperatorProcess::times(std::int64_t count, double& call_ns) {
  const std::int64_t start = core::monotonic_ns();
  AACO_ASSIGN(const Json answer, ask(Json::object({{"time", count}})));
  std::vector<double> result;
  for (const Json& item : answer["ns"].items())
    if (const auto time = item.as_f64(); time && *time > 0) result.push_back(*time);
  group_ = answer["group"].as_i64().value_or(0);
  if (static_cast<std::int64_t>(result.size()) != count || group_ < 1) return strange(answer);
  call_ns = std::max(1.0, static_cast<double>(core::monotonic_ns() - start) / static_cast<double>(count));
  return result;
}

core::Status OperatorProcess::measure(const BenchmarkSuite& suite, BenchmarkVisit& visit) {
  const auto budget = static_cast<double>(suite.visit_ns);
  double call_ns = 1;
  // Warm for as long as a run by ONNX Runtime may be.
  const std::int64_t warm_until = core::monotonic_ns() + suite.visit_ns / 2;
  for (std::int64_t count = 1; count == 1 || core::monotonic_ns() < warm_until;) {
    if (options_.stop->load()) return stopped(visit);
    AACO_TRY(times(count, call_ns));
    const auto left = static_cast<double>(warm_until - core::monotonic_ns());
    if (left < call_ns) break;
    count = std::max<std::int64_t>(2, calls_for(left, call_ns));
  }
  stats::StoppingRule rule(stopping_of(suite));
  rule.reserve();
  std::vector<double> all;
  const std::int64_t start = core::monotonic_ns();
  // The rule adds up times of calls, of which a group's mean stands for many: the clock counts those.
  const auto enough = [&] {
    return rule.done() || (rule.count() >= kMinTimes && core::monotonic_ns() - start >= suite.visit_ns);
  };
  while (!enough()) {
    if (options_.stop->load()) return stopped(visit);
    AACO_ASSIGN(const auto some, times(calls_for(budget / kBatches, call_ns), call_ns));
    for (const double time : some) {
      if (rule.done()) break;
      rule.add(static_cast<std::int64_t>(time));
      all.push_back(time);
    }
  }
  summarize(std::move(all), visit);
  visit.calls *= group_;
  const auto calls = [&]() -> core::Status {
    AACO_TRY(times(calls_for(kPowerNs, call_ns), call_ns));
    return {};
  };
  return measure_power(options_.power, calls, *options_.stop, visit);
}

}  // namespace aaco::laboratory::benchmarks
