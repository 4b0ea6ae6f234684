#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/clock.h"
#include "core/files.h"
#include "core/worker_process.h"
#include "laboratory/benchmarks.h"
#include "laboratory/benchmarks/visit_times.h"

// Speaks with data/benchmarks/pytorch_operators.py, which says what the lines are.
namespace aaco::laboratory {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kStartTimeout = 300'000'000'000;  // a first import reads gigabytes of libraries
constexpr std::int64_t kCallTimeout = 600'000'000'000;
constexpr std::int64_t kBatches = 8;  // requests that a visit's time is cut into
constexpr std::int64_t kMaxCallsAsked = 2000;
constexpr std::int64_t kMinTimes = 5;
constexpr double kPowerNs = 10e6;  // asked for at once while power is read

class Process {
 public:
  explicit Process(PyTorchOptions options) : options_(std::move(options)) {}

  // What it says of itself.
  core::Result<Json> start() {
    core::Command command;
    command.arguments = {options_.python, core::join_path(options_.share, "data/benchmarks/pytorch_operators.py"),
                         "--device",      options_.gpu ? "gpu" : "cpu",
                         "--threads",     std::to_string(options_.threads),
                         "--seed",        std::to_string(options_.seed)};
    auto worker = core::WorkerProcess::start(command);
    if (!worker) return unsupported(worker.error().message);
    worker_ = std::make_unique<core::WorkerProcess>(std::move(*worker));
    const auto line = worker_->receive(kStartTimeout);
    const auto hello = line ? Json::parse(*line) : core::Result<Json>(tl::unexpected<core::Error>(line.error()));
    if (hello && (*hello)["ready"].as_bool().value_or(false)) return *hello;
    worker_.reset();
    if (!hello) return unsupported(hello.error().message);
    return unsupported((*hello)["error"].text());
  }

  core::Status visit(const BenchmarkSuite& suite, BenchmarkVisit& visit) {
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

 private:
  tl::unexpected<core::Error> unsupported(std::string_view why) const {
    return core::fail(
        ErrorCode::unsupported,
        fmt::format("PyTorch cannot measure {} with '{}': {}", options_.gpu ? "a GPU" : "operators", options_.python, why),
        "set --python or AACO_PYTHON to a Python with PyTorch for this device");
  }
  static tl::unexpected<core::Error> strange(const Json& answer) {
    return core::fail(ErrorCode::invalid_input,
                      "unexpected response from the PyTorch process: " + answer.dump(-1).substr(0, 200));
  }

  core::Result<Json> ask(const Json& request) {
    auto line = [&]() -> core::Result<std::string> {
      AACO_TRY(worker_->send(request.dump(-1)));
      return worker_->receive(kCallTimeout);
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
    if (const auto why = answer["error"].text(); !why.empty()) return core::fail(ErrorCode::unsupported, std::string(why));
    return answer;
  }

  // `count` times of a call, each a mean over `group_` calls; the wall's time of one goes to `call_ns`.
  core::Result<std::vector<double>> times(std::int64_t count, double& call_ns) {
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

  // As many calls as fit into `left_ns`, within what is asked for at once.
  static std::int64_t calls_for(double left_ns, double call_ns) {
    return std::clamp(static_cast<std::int64_t>(left_ns / call_ns), std::int64_t{1}, kMaxCallsAsked);
  }

  core::Status measure(const BenchmarkSuite& suite, BenchmarkVisit& visit) {
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
    stats::StoppingRule rule(benchmarks::stopping_of(suite));
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
    benchmarks::summarize(std::move(all), visit);
    visit.calls *= group_;
    const auto calls = [&]() -> core::Status {
      AACO_TRY(times(calls_for(kPowerNs, call_ns), call_ns));
      return {};
    };
    return benchmarks::measure_power(options_.power, calls, *options_.stop, visit);
  }

  static tl::unexpected<core::Error> stopped(const BenchmarkVisit& visit) {
    return core::fail(ErrorCode::cancelled, "stopped by the user while measuring " + visit.one.id);
  }

  PyTorchOptions options_;
  std::int64_t group_ = 1;  // of the operator that is made now
  std::unique_ptr<core::WorkerProcess> worker_;
};

}  // namespace

core::Result<PyTorchProcess> on_pytorch(const PyTorchOptions& options) {
  auto process = std::make_shared<Process>(options);
  AACO_ASSIGN(const Json hello, process->start());
  PyTorchProcess result;
  result.version = hello["version"].text();
  result.device_name = hello["name"].text();
  result.threads = static_cast<int>(hello["threads"].as_i64().value_or(0));
  result.visitor = [process](const BenchmarkSuite& suite, BenchmarkVisit& visit) { return process->visit(suite, visit); };
  return result;
}

}  // namespace aaco::laboratory
