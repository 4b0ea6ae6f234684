#include "workflows/llm_ceiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/clock.h"
#include "core/cpu_set.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/resident_memory.h"
#include "core/worker_process.h"
#include "hardware/inventory.h"
#include "hardware/usable_cpus.h"
#include "serving/client.h"
#include "serving/token_server.h"
#include "workflows/llm/client_ceiling.h"
#include "workflows/llm/plan.h"

namespace aaco::workflows {
namespace {

using analytics::llm::CeilingStep;
using core::Json;

constexpr double kFirstRate = 20'000;             // chunks per second
constexpr std::int64_t kLevelNs = 2'000'000'000;  // new requests are sent for so long
constexpr double kRampShare = 0.3;                // of it that is not counted
constexpr std::int64_t kMaxAnswer = 128, kMinAnswer = 16;
constexpr std::int64_t kIdleSeconds = 6;
constexpr std::int64_t kAnswerTimeoutNs = 30'000'000'000;
constexpr std::int64_t kOtherFiles = 64;

// The server's process and the client on it.
class Bench {
 public:
  static core::Result<Bench> start(const LlmSelfTestRequest& request, std::optional<int> cpu, const Services& services) {
    core::Command command;
    command.arguments = request.server;
    if (cpu) command.arguments.insert(command.arguments.end(), {"--cpu", std::to_string(*cpu)});
    for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
    AACO_ASSIGN(core::WorkerProcess process, core::WorkerProcess::start(command));
    AACO_ASSIGN(const std::string line, process.receive(kAnswerTimeoutNs));
    const auto port = core::parse_u64(line);
    if (!port || *port == 0 || *port > 65535)
      return core::fail(core::ErrorCode::io, "the built-in server returned an invalid port");
    return Bench(std::move(process), static_cast<int>(*port));
  }

  // Answers of `tokens` tokens, each stream with `tokens_per_second`.
  core::Result<serving::StageOutcome> load(std::int64_t streams, double tokens_per_second, std::int64_t tokens,
                                           std::optional<std::int64_t> duration_ns, const Services& services) {
    LlmPlan plan;
    const auto period_us = std::max<std::int64_t>(1, std::llround(1e6 / tokens_per_second));
    AACO_ASSIGN(plan.target, serving::parse_target(fmt::format("http://127.0.0.1:{}/period_us={}/v1", port_, period_us), {}));
    plan.body.model = "self-test";
    AACO_ASSIGN(plan.prompt_tokens, serving::parse_length("512"));
    AACO_ASSIGN(plan.output_tokens, serving::parse_length(std::to_string(tokens)));
    const LlmLevel level{.name = "self-test",
                         .concurrency = streams,
                         .offsets_ns = {},
                         .requests = duration_ns ? std::optional<std::int64_t>() : streams,
                         .duration_ns = duration_ns};
    serving::ClientOptions options;
    options.stop = [&services] { return services.stopping(); };
    AACO_ASSIGN(auto client, serving::Client::open(plan.target, std::move(options)));
    AACO_TRY(counts());
    LlmWork work(plan, level, 1);
    return client.run({.concurrency = streams, .max_open = {}, .duration_ns = duration_ns}, work);
  }

  // Of the server, since the last call.
  core::Result<Json> counts() {
    AACO_TRY(process_.send("counts"));
    AACO_ASSIGN(const std::string line, process_.receive(kAnswerTimeoutNs));
    return Json::parse(line);
  }

 private:
  Bench(core::WorkerProcess process, int port) : process_(std::move(process)), port_(port) {}
  core::WorkerProcess process_;
  int port_;
};

// Content chunks per second within [from, to], and the client's own state there.
CeilingStep step_of(const serving::StageOutcome& outcome, double planned_per_second, std::int64_t from_ns, std::int64_t to_ns) {
  CeilingStep step{.planned_per_second = planned_per_second};
  std::int64_t chunks = 0;
  outcome.chunks.for_each([&](const serving::ChunkRecord& chunk) {
    chunks += serving::is_output(chunk.kind) && chunk.time_ns >= from_ns && chunk.time_ns < to_ns ? 1 : 0;
  });
  step.received_per_second = static_cast<double>(chunks) / std::max(1e-9, static_cast<double>(to_ns - from_ns) * 1e-9);
  double window = 0, cpu = 0, waits = 0;
  for (const serving::ClientSample& sample : outcome.samples) {
    if (sample.time_ns - sample.window_ns < from_ns || sample.time_ns > to_ns) continue;
    window += static_cast<double>(sample.window_ns);
    cpu += static_cast<double>(sample.cpu_ns);
    waits += static_cast<double>(sample.run_queue_ns.value_or(0));
  }
  // Without a sample the loop was too busy to take one.
  step.client_cpu_ratio = window > 0 ? cpu / window : 1;
  step.client_run_queue_ratio = window > 0 ? waits / window : 0;
  return step;
}

core::Result<CeilingStep> measure_rate(Bench& bench, double rate, std::int64_t streams, const Services& services) {
  const double each = rate / static_cast<double>(streams);
  const std::int64_t tokens = std::clamp<std::int64_t>(std::llround(each), kMinAnswer, kMaxAnswer);
  AACO_ASSIGN(const auto outcome, bench.load(streams, each, tokens, kLevelNs, services));
  AACO_ASSIGN(const Json counts, bench.counts());
  CeilingStep step =
      step_of(outcome, rate, outcome.start_ns + static_cast<std::int64_t>(kRampShare * kLevelNs), outcome.start_ns + kLevelNs);
  step.server_late_ns = counts["most_late_ns"].as_i64().value_or(0);
  step.server_cpu_ratio = counts["cpu_ns"].as_f64().value_or(0) / std::max(1.0, counts["wall_ns"].as_f64().value_or(1));
  return step;
}

core::Status measure_memory(Bench& bench, const LlmSelfTestRequest& request, LlmSelfTestOutcome& outcome,
                            const Services& services) {
  outcome.idle_tokens_per_second = request.idle_tokens_per_second;
  outcome.idle_streams = std::min(request.idle_streams, outcome.file_limit - kOtherFiles);
  if (outcome.idle_streams < request.idle_streams)
    outcome.file_limit_note = fmt::format("the limit of {} open files allows {} streams instead of {}; raise it with 'ulimit -n'",
                                          outcome.file_limit, outcome.idle_streams, request.idle_streams);
  services.progress(fmt::format("part 1 of 2: {} open streams, about {} s", outcome.idle_streams, kIdleSeconds));
  const auto each = static_cast<double>(request.idle_tokens_per_second);
  AACO_ASSIGN(const auto stage,
              bench.load(outcome.idle_streams, each, request.idle_tokens_per_second * kIdleSeconds, {}, services));
  outcome.idle_peak_bytes = core::resident_peak_bytes();
  // All are open between the time at which the last one had its first token and that at which the first one ended.
  std::int64_t from = stage.start_ns, to = stage.end_ns;
  for (const auto& record : stage.requests) {
    from = std::max(from, record.first_token_ns.value_or(stage.end_ns));
    to = std::min(to, record.end_ns);
  }
  const double planned = each * static_cast<double>(outcome.idle_streams);
  if (to > from) outcome.idle_received_ratio = step_of(stage, planned, from, to).received_per_second / planned;
  return {};
}

core::Status search_ceiling(Bench& bench, const LlmSelfTestRequest& request, LlmSelfTestOutcome& outcome,
                            const Services& services) {
  outcome.streams = std::min(request.streams, outcome.file_limit - kOtherFiles);
  analytics::llm::CeilingSearch search(kFirstRate);
  const std::int64_t begin_ns = core::monotonic_ns();
  while (const auto rate = search.next()) {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "the self-test was stopped");
    // Each step took as long as those before it: what is asked, and the answers that were still open then.
    const double step_ns = outcome.steps.empty()
                               ? static_cast<double>(kLevelNs)
                               : static_cast<double>(core::monotonic_ns() - begin_ns) / static_cast<double>(outcome.steps.size());
    services.progress(fmt::format("part 2 of 2: {} chunks/s, at most about {:.0f} s left", core::format_count(std::round(*rate)),
                                  std::ceil(search.most_left() * step_ns / 1e9)));
    AACO_ASSIGN(CeilingStep step, measure_rate(bench, *rate, outcome.streams, services));
    if (!keeps_up(step)) {  // once more: other work may have taken the CPU
      outcome.steps.push_back(step);
      AACO_ASSIGN(step, measure_rate(bench, *rate, outcome.streams, services));
    }
    outcome.steps.push_back(step);
    search.add(step);
  }
  outcome.ceiling = search.best();
  outcome.server_limited = search.server_limited();
  return {};
}

core::Status store(LlmSelfTestOutcome& outcome, const Services& services) {
  if (!outcome.ceiling) return {};
  AACO_TRY(core::make_writable_folder(services.paths.registry, "AACO_REGISTRY"));
  outcome.path = client_ceiling_path(services.paths);
  Json document = to_json(outcome);
  document.set("tool_version", services.tool_version)
      .set("time", core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime)));
  return core::write_file_atomic(outcome.path, document.dump() + "\n");
}

}  // namespace

core::Result<LlmSelfTestOutcome> llm_self_test(const LlmSelfTestRequest& request, const Services& services) {
  LlmSelfTestOutcome outcome;
  outcome.cpu_model = hardware::take_inventory("/", services.environment).cpu.model;
  outcome.file_limit = serving::raise_file_limit();
  const std::vector<int> cpus = hardware::usable_cpus().allowed;
  // The last two: the first CPU often has the interrupts.
  if (cpus.size() >= 2 && core::pin_to({cpus.back()})) {
    outcome.client_cpu = cpus.back();
    outcome.server_cpu = cpus[cpus.size() - 2];
  }
  AACO_ASSIGN(Bench bench, Bench::start(request, outcome.server_cpu, services));
  AACO_TRY(measure_memory(bench, request, outcome, services));
  AACO_TRY(search_ceiling(bench, request, outcome, services));
  AACO_TRY(store(outcome, services));
  return outcome;
}

Json to_json(const LlmSelfTestOutcome& outcome) {
  Json steps = Json::array();
  const auto step_json = [](const CeilingStep& step) {
    return Json::object({{"planned_per_second", step.planned_per_second},
                         {"received_per_second", step.received_per_second},
                         {"client_cpu_ratio", step.client_cpu_ratio},
                         {"client_run_queue_ratio", step.client_run_queue_ratio},
                         {"server_cpu_ratio", step.server_cpu_ratio},
                         {"server_late_ns", step.server_late_ns}});
  };
  for (const CeilingStep& step : outcome.steps) steps.push(step_json(step));
  Json json = Json::object({{"schema_version", 1}, {"cpu", outcome.cpu_model}, {"streams", outcome.streams}});
  if (outcome.ceiling)
    json.set("chunks_per_second", outcome.ceiling->received_per_second)
        .set("cpu_ns_per_chunk", outcome.ceiling->client_cpu_ratio / outcome.ceiling->received_per_second * 1e9)
        .set("server_limited", outcome.server_limited);
  json.set("open_streams", Json::object({{"streams", outcome.idle_streams},
                                         {"tokens_per_second", outcome.idle_tokens_per_second},
                                         {"peak_resident_bytes", outcome.idle_peak_bytes},
                                         {"received_ratio", outcome.idle_received_ratio}}));
  json.set("open_files_limit", outcome.file_limit);
  json.set_if("client_cpu", Json(outcome.client_cpu)).set_if("server_cpu", Json(outcome.server_cpu));
  return json.set("steps", std::move(steps));
}

std::string render(const LlmSelfTestOutcome& outcome) {
  std::string text;
  if (outcome.ceiling) {
    const CeilingStep& best = *outcome.ceiling;
    text += fmt::format("client ceiling   {}{} chunks/s over {} streams, requests and chunks recorded\n",
                        outcome.server_limited ? "at least " : "", core::format_count(std::round(best.received_per_second)),
                        core::format_count(static_cast<double>(outcome.streams)));
    text += fmt::format("  CPU per chunk  {}\n", core::format_duration(best.client_cpu_ratio / best.received_per_second * 1e9));
    text += fmt::format("  at the ceiling client {} busy, built-in server {} busy\n", core::format_percent(best.client_cpu_ratio),
                        core::format_percent(best.server_cpu_ratio));
  } else {
    text += "client ceiling   not found: the client keeps up with no rate; other work may occupy its CPU\n";
  }
  text += outcome.client_cpu ? fmt::format("CPUs             client {}, server {}\n", *outcome.client_cpu, *outcome.server_cpu)
                             : "CPUs             one for client and server: the ceiling includes the server\n";
  text += fmt::format("memory           {} with {} open streams of {} tokens/s ({} of the tokens arrived on time)\n",
                      core::format_bytes(static_cast<double>(outcome.idle_peak_bytes)),
                      core::format_count(static_cast<double>(outcome.idle_streams)), outcome.idle_tokens_per_second,
                      core::format_percent(outcome.idle_received_ratio));
  text += fmt::format("open files       limit {}\n", core::format_count(static_cast<double>(outcome.file_limit)));
  if (!outcome.file_limit_note.empty()) text += "  " + outcome.file_limit_note + "\n";
  if (!outcome.path.empty()) text += fmt::format("stored           {}\n", outcome.path);
  return text;
}

core::Status serve_tokens(std::optional<int> cpu, int control, int output) {
  if (cpu) (void)core::pin_to({*cpu});  // refused: it runs where the kernel puts it
  serving::raise_file_limit();
  return serving::run_token_server(control, output);
}

}  // namespace aaco::workflows
