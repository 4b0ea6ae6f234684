#include "workflows/llm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "analytics/llm.h"
#include "core/clock.h"
#include "core/numbers.h"
#include "hardware/inventory.h"
#include "hardware/secrets.h"
#include "serving/rows.h"
#include "tracelake/lake.h"
#include "workflows/live_record.h"
#include "workflows/llm/client_ceiling.h"
#include "workflows/llm/plan.h"
#include "workflows/llm/server.h"
#include "workflows/llm/server_watch.h"
#include "workflows/llm/summary.h"
#include "workflows/llm/token_counter.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr core::Nanoseconds kTelemetryPeriod{
    100'000'000};  // ten times a second: the client shares its machine with the collectors
constexpr std::int64_t kFilesBesideSockets = 64;
constexpr std::size_t kFlatSteps = 3;  // of a sweep without a gain in throughput before it ends

serving::ClientOptions client_options(const LlmRequest& request, const LlmPlan& plan, const Services& services) {
  serving::ClientOptions options{
      .timeout_ns = request.timeout_ns, .retries = static_cast<int>(request.retries), .keep_chunks = request.keep_chunks};
  options.keep_text = plan.count_tokens || plan.turns > 1;
  options.stop = [&services] { return services.stopping(); };
  options.progress = [&services](const serving::Progress& now) {
    std::string text = fmt::format("{:.0f} s  sent {}  open {}  done {}  failed {}", static_cast<double>(now.elapsed_ns) * 1e-9,
                                   now.sent, now.open, now.ended, now.failed);
    if (now.waiting > 0) text += fmt::format("  waiting {}", now.waiting);
    if (now.recent_ttft_ns) text += "  TTFT " + core::format_duration(static_cast<double>(*now.recent_ttft_ns));
    services.progress(text);
  };
  return options;
}

core::Status check_file_limit(const LlmPlan& plan, const LlmRequest& request) {
  const std::int64_t limit = serving::raise_file_limit();
  std::int64_t needed = request.max_open.value_or(0);
  for (const LlmLevel& level : plan.levels) needed = std::max(needed, level.concurrency.value_or(0));
  if (limit > 0 && needed + kFilesBesideSockets > limit)
    return core::fail(core::ErrorCode::exhausted,
                      fmt::format("{} open requests exceed the limit of {} open files", needed, limit),
                      "raise it with 'ulimit -n', or lower the concurrency");
  return {};
}

// The collectors beside the load, drained by a thread of their own: they never run on the client's.
class Watch {
 public:
  Watch(std::int64_t process_id, trace::Sink& sink) : telemetry_(process_id, kTelemetryPeriod), sink_(sink) {}
  core::Status start() {
    AACO_TRY(telemetry_.start());
    telemetry_.resume();
    drainer_ = std::thread([this] {
      while (!done_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        telemetry_.drain(sink_);
      }
    });
    return {};
  }
  void finish(trace::SessionManifest& manifest) {
    done_ = true;
    if (drainer_.joinable()) drainer_.join();
    telemetry_.finish(sink_, manifest);
  }
  ~Watch() {
    done_ = true;
    if (drainer_.joinable()) drainer_.join();
  }

 private:
  Telemetry telemetry_;
  trace::Sink& sink_;
  std::atomic<bool> done_ = false;
  std::thread drainer_;
};

std::optional<double> client_ceiling(const Services& services) {
  return stored_client_ceiling(services.paths, hardware::take_inventory("/", services.environment).cpu.model);
}

struct Ran {
  std::string phase, load;
  serving::StageOutcome outcome;
  std::map<std::int64_t, std::string> answers;  // whose tokens the server did not count
};

// After the load, so that counting takes nothing from it. Answers that cannot be counted stay without tokens.
void count_tokens(std::vector<Ran>& all, const TokenCounter& counter, const Services& services) {
  services.progress("counting tokens");
  for (Ran& ran : all)
    for (const auto& [request, text] : ran.answers) {
      if (services.stopping()) return;
      const auto tokens = counter.count(text);
      if (!tokens) continue;
      serving::RequestRecord& record = ran.outcome.requests[static_cast<std::size_t>(request)];
      record.usage.output_tokens = *tokens;
      record.token_source = counter.source();
    }
}

// Complete answers as iterations, so that whatever works on iterations works on requests.
void write_iterations(const Ran& ran, std::int64_t& next, trace::Sink& sink) {
  for (const auto& record : ran.outcome.requests) {
    if (record.outcome != serving::Outcome::ok) continue;
    trace::IterationRow row{.iteration = next++, .phase = sink.name(ran.phase)};
    row.start_ns = record.scheduled_ns;
    row.duration_ns = record.end_ns - record.scheduled_ns;
    sink.add(row);
  }
}

void write_all(const std::vector<Ran>& all, trace::Sink& sink) {
  std::int64_t first_request = 0, warmups = 0, measured = 0;
  for (const Ran& ran : all) {
    serving::write_rows(ran.outcome, ran.phase, ran.load, first_request, sink);
    write_iterations(ran, ran.phase == "warmup" ? warmups : measured, sink);
    first_request += static_cast<std::int64_t>(ran.outcome.requests.size());
  }
}

core::Result<Ran> run_level(serving::Client& client, const LlmPlan& plan, const LlmLevel& level, const LlmRequest& request,
                            std::uint64_t stream) {
  LlmWork work(plan, level, stream);
  Ran ran{.phase = {}, .load = level.name, .outcome = {}, .answers = {}};
  AACO_ASSIGN(
      ran.outcome,
      client.run({.concurrency = level.concurrency, .max_open = request.max_open, .duration_ns = level.duration_ns}, work));
  ran.answers = work.take_answers();
  return ran;
}

core::Result<std::vector<Ran>> run_levels(serving::Client& client, const LlmPlan& plan, const LlmRequest& request,
                                          SessionDraft& draft, const Services& services) {
  std::vector<Ran> all;
  const auto run = [&](const LlmLevel& level, const std::string& phase, std::uint64_t stream) -> core::Status {
    services.progress(phase == "warmup" ? "warming up" : level.name);
    AACO_ASSIGN(Ran ran, run_level(client, plan, level, request, stream));
    ran.phase = phase;
    draft.phase(phase, ran.outcome.start_ns, ran.outcome.end_ns);
    all.push_back(std::move(ran));
    return {};
  };
  if (plan.warmup > 0) {
    const LlmLevel warmup{.name = "warmup",
                          .concurrency = std::min(plan.warmup, plan.levels.front().concurrency.value_or(plan.warmup)),
                          .offsets_ns = {},
                          .requests = plan.warmup,
                          .duration_ns = {}};
    AACO_TRY(run(warmup, "warmup", 0));
  }
  std::vector<analytics::llm::Load> loads;
  for (std::size_t i = 0; i < plan.levels.size() && !services.stopping(); ++i) {
    AACO_TRY(run(plan.levels[i], "measure", i + 1));
    if (!request.until_limit) continue;
    loads.push_back(measure_stage(all.back().outcome, all.back().load, plan.slo));
    const auto curve = analytics::llm::judge_curve(loads, plan.slo);
    if (curve.queues || curve.flat_steps >= kFlatSteps || (!plan.slo.empty() && curve.last_within_slo != i)) break;
  }
  return all;
}

std::vector<hardware::Fact> subject_of(const LlmPlan& plan) {
  std::string load;
  for (const LlmLevel& level : plan.levels) load += (load.empty() ? "" : ", ") + level.name;
  std::string shapes = plan.prompts.empty() ? fmt::format("prompt {}, response {} tokens", to_string(plan.prompt_tokens),
                                                          to_string(plan.output_tokens))
                                            : "prompts from a file";
  if (!plan.prefix.empty()) shapes += fmt::format(", shared prefix of {} bytes", plan.prefix.size());
  if (plan.turns > 1) shapes += fmt::format(", {} turns", plan.turns);
  return {{"mode", "llm"}, {"model.hash", plan.body.model}, {"input_shapes", shapes},
          {"load", load},  {"slo", to_string(plan.slo)},    {"seed", std::to_string(plan.body.seed)}};
}

// What is measured, with a command line that has no header values.
core::Result<LlmOutcome> measure(const LlmRequest& request, const Services& services);

// "--header", "Name: value" and "--header=Name: value", of which only the names are stored.
std::vector<std::string> without_header_values(std::vector<std::string> command_line) {
  for (std::size_t i = 0; i < command_line.size(); ++i) {
    const bool joined = command_line[i].starts_with("--header=");
    if (!joined && (i == 0 || command_line[i - 1] != "--header")) continue;
    command_line[i] = command_line[i].substr(0, command_line[i].find(':')) + ": " + std::string(hardware::kRemoved);
  }
  return command_line;
}

}  // namespace

core::Result<LlmOutcome> llm(const LlmRequest& request, const Services& services) {
  Services stored = services;
  stored.command_line = without_header_values(services.command_line);
  return measure(request, stored);
}

namespace {

core::Result<LlmOutcome> measure(const LlmRequest& request, const Services& services) {
  AACO_ASSIGN(LlmPlan plan, plan_llm(request, services));
  AACO_TRY(check_file_limit(plan, request));
  services.progress("connecting");
  AACO_ASSIGN(auto opened, serving::Client::open(plan.target, client_options(request, plan, services)));
  std::optional<serving::Client> client(std::move(opened));
  if (plan.body.model.empty()) {
    AACO_ASSIGN(plan.body.model, first_model(plan.target));
  }
  AACO_ASSIGN(const Probed probed, probe(*client, plan));
  std::optional<TokenCounter> counter;
  if (!probed.counts_tokens || !request.tokenizer.empty()) {
    AACO_ASSIGN(counter, TokenCounter::find(request.tokenizer, plan.target, plan.body.model));
  }
  plan.count_tokens = counter && !probed.counts_tokens;
  if (plan.count_tokens) {  // a client that keeps the answers
    AACO_ASSIGN(auto keeping, serving::Client::open(plan.target, client_options(request, plan, services)));
    client.emplace(std::move(keeping));
  }
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("llm", request.tag, to_json(request, plan), services));
  LiveRecord live(services.paths.sessions, draft.manifest(), "language-model server");
  live.phase("measuring");
  if (probed.no_length_control)
    draft.warn("llm.length_control",
               "the server does not accept ignore_eos and min_tokens: responses may be shorter than planned",
               "compare only runs with the same response lengths");
  const auto server = server_process(plan.target);
  std::optional<Watch> watch;
  if (request.telemetry) {
    watch.emplace(server.value_or(::getpid()), draft.sink());
    AACO_TRY(watch->start());
  }
  std::optional<ServerWatch> server_watch;
  if (request.read_server_metrics) {
    AACO_ASSIGN(server_watch, ServerWatch::find(plan.target, request.server_metrics, services));
  }
  if (server_watch) server_watch->start();
  auto all = run_levels(*client, plan, request, draft, services);
  if (watch) watch->finish(draft.manifest());
  if (server_watch) server_watch->finish(draft.sink());
  if (!all) return tl::unexpected(std::move(all).error());
  if (plan.count_tokens) count_tokens(*all, *counter, services);
  services.progress("computing metrics");
  write_all(*all, draft.sink());
  AACO_TRY(draft.write_lockbox(subject_of(plan), Json::object()));
  AACO_TRY(draft.writer().flush());
  AACO_ASSIGN(LlmSummary summary, summarize_llm(draft.writer().path(), {.slo = plan.slo,
                                                                        .price_per_hour = request.price_per_hour,
                                                                        .server_sampled = watch && server,
                                                                        .client_ceiling = client_ceiling(services),
                                                                        .definitions = plan.definitions}));
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, 1));
  // Requests overlap: their number over the sum of their times is no throughput.
  std::erase_if(metrics, [](const trace::MetricValue& metric) { return metric.id.starts_with("throughput."); });
  metrics.insert(metrics.end(), summary.metrics.begin(), summary.metrics.end());
  for (trace::Warning& warning : summary.warnings) draft.manifest().warnings.push_back(std::move(warning));
  std::int64_t connections = 0, waited = 0;
  for (const Ran& ran : *all) {
    connections += ran.outcome.connections;
    waited += ran.outcome.waited_for_cap;
  }
  if (waited > 0)
    draft.warn("llm.max_open",
               fmt::format("{} requests waited for the cap of {} open requests; the wait is part of their latency", waited,
                           *request.max_open),
               "raise --max-open");
  AACO_TRY(draft.writer().write_json("metrics/llm_summary.json", summary.document));
  trace::Outcome& stored = draft.manifest().outcome;
  stored.model = plan.body.model;
  stored.llm = Json::object(
      {{"url", plan.target.url()}, {"connections", connections}, {"server_process_id", server}, {"summary", summary.sentence}});
  if (server_watch)
    stored.llm.set("server_metrics", Json::object({{"url", server_watch->url()},
                                                   {"dialect", server_watch->dialect()},
                                                   {"readings", server_watch->readings()},
                                                   {"failures", server_watch->failures()}}));
  LlmOutcome outcome;
  outcome.all_failed = summary.complete == 0;
  outcome.failure = summary.failure;
  outcome.definitions = render_definitions(summary.document);
  AACO_ASSIGN(outcome.session, draft.finish(std::move(metrics), services.stopping()));
  return outcome;
}

}  // namespace
}  // namespace aaco::workflows
