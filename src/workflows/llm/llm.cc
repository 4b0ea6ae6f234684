#include "workflows/llm.h"

#include <fmt/format.h>

#include <optional>

#include "core/numbers.h"
#include "hardware/inventory.h"
#include "hardware/secrets.h"
#include "workflows/live_record.h"
#include "workflows/llm/client_ceiling.h"
#include "workflows/llm/levels.h"
#include "workflows/llm/load_watch.h"
#include "workflows/llm/observe.h"
#include "workflows/llm/plan.h"
#include "workflows/llm/server.h"
#include "workflows/llm/summary.h"
#include "workflows/llm/token_counter.h"
#include "workflows/llm_causes/slow_causes.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kHeldNs = 10'000'000;  // after the answer, below which it does not matter
constexpr double kHeldShare = 0.02;           // of the time of all responses, which a closed loop is slowed down by

// A server that answers, and who asks it.
struct ReadyLoad {
  LlmPlan plan;
  std::optional<serving::Client> client;
  std::optional<TokenCounter> counter;
  Probed probed;
};

core::Result<ReadyLoad> connect(const LlmRequest& request, const Services& services) {
  ReadyLoad ready;
  AACO_ASSIGN(ready.plan, plan_llm(request, services));
  LlmPlan& plan = ready.plan;
  AACO_TRY(check_file_limit(plan, request));
  services.progress("connecting");
  AACO_ASSIGN(auto opened, serving::Client::open(plan.target, client_options(request, plan, services)));
  ready.client.emplace(std::move(opened));
  if (plan.body.model.empty()) {
    AACO_ASSIGN(plan.body.model, first_model(*ready.client, plan.target, request.timeout_ns));
  }
  AACO_ASSIGN(ready.probed, probe(*ready.client, plan));
  const Probed& probed = ready.probed;
  if (!probed.counts_tokens || !request.tokenizer.empty()) {
    AACO_ASSIGN(ready.counter, TokenCounter::find(request.tokenizer, plan.target, plan.body.model));
  }
  plan.count_tokens = ready.counter.has_value();
  if (!plan.count_tokens) return ready;
  // A client that keeps the answers.
  AACO_ASSIGN(auto keeping, serving::Client::open(plan.target, client_options(request, plan, services)));
  ready.client.emplace(std::move(keeping));
  return ready;
}

std::vector<hardware::Fact> subject_of(const LlmPlan& plan) {
  std::string load;
  for (const LlmLevel& level : plan.levels) load += (load.empty() ? "" : ", ") + level.name;
  std::string shapes = plan.prompts.empty() ? fmt::format("prompt {}, response {} tokens", to_string(plan.prompt_tokens),
                                                          to_string(plan.output_tokens))
                                            : "prompts from a file";
  if (!plan.prefix.empty()) shapes += fmt::format(", shared prefix of {} bytes", plan.prefix.size());
  if (plan.turns > 1) shapes += fmt::format(", {} turns", plan.turns);
  return {{"mode", "llm"},
          {"model.hash", shown(plan.body.model, plan)},
          {"input_shapes", shapes},
          {"load", load},
          {"slo", to_string(plan.slo)},
          {"seed", std::to_string(plan.body.seed)}};
}

void warn_of_cap(const std::vector<RanLevel>& levels, const LlmRequest& request, SessionDraft& draft) {
  std::int64_t waited = 0;
  for (const RanLevel& level : levels)
    if (level.phase == "measure") waited += level.outcome.waited_for_cap;
  if (waited > 0)
    draft.warn("llm.max_open",
               fmt::format("{} requests waited for the cap of {} open requests; the wait is part of their latency", waited,
                           *request.max_open),
               "raise --max-open");
}

struct Held {
  std::int64_t count = 0, ns = 0;
  // Whether it is a share of the load's time that matters.
  [[nodiscard]] bool tells(std::int64_t all_ns) const {
    return static_cast<double>(ns) > kHeldShare * static_cast<double>(all_ns);
  }
  [[nodiscard]] std::string mean() const {
    return core::format_duration(static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, count)));
  }
};

// Only [DONE], or without it the end of the response, tells that nothing more comes: a closed loop waits for it.
void warn_of_held(const std::vector<RanLevel>& levels, SessionDraft& draft) {
  Held late, without;
  std::int64_t all_ns = 0;  // of the responses, from their sending
  for (const RanLevel& level : levels)
    for (const serving::RequestRecord& record : level.outcome.requests) {
      if (record.outcome != serving::Outcome::ok) continue;
      all_ns += record.end_ns - record.sent_ns.value_or(record.end_ns) + record.held_ns;
      if (record.held_ns < kHeldNs) continue;
      Held& held = record.done ? late : without;
      ++held.count;
      held.ns += record.held_ns;
    }
  constexpr std::string_view kEffect =
      "with --concurrency the next request waits for that, which lowers the throughput but not E2EL";
  if (late.tells(all_ns))
    draft.warn("llm.late_done",
               fmt::format("{} responses ended with [DONE] {} after their last token and finish reason, on average: {}",
                           late.count, late.mean(), kEffect),
               "find out what the server or gateway does between the last token and [DONE], or use --rate");
  if (without.tells(all_ns))
    draft.warn("llm.no_done",
               fmt::format("{} responses ended without [DONE], and the server held them open for {} on average: {}",
                           without.count, without.mean(), kEffect),
               "let the server send 'data: [DONE]', or use --rate");
}

// No server can be asked for nothing, so these requests are not those of the trace.
void warn_of_replay(const LlmPlan& plan, SessionDraft& draft) {
  if (!plan.replayed) return;
  const auto sent = plan.prompts.begin() + static_cast<std::ptrdiff_t>(plan.levels.front().offsets_ns.size());
  const auto empty = std::count_if(plan.prompts.begin(), sent, [](const serving::Prompt& one) { return one.without_output; });
  if (empty > 0)
    draft.warn(
        "llm.replay_empty",
        fmt::format("{} of {} requests of the trace have 0 output tokens: 1 is asked for", empty, sent - plan.prompts.begin()),
        "remove them from the trace if they failed when it was recorded");
}

// The recording of --observe. Without it the load is kept, and can be joined later.
std::optional<ObservedServer> observe(const LlmRequest& request, const std::vector<RanLevel>& levels, SessionDraft& draft,
                                      const Services& services) {
  if (request.observe.empty()) return std::nullopt;
  auto observed = join_observed(request.observe, levels, draft, services);
  if (observed) {
    if (!observed->synchronised)
      draft.warn("llm.clocks", describe(*observed), "synchronise both machines (NTP, PTP): causes of short waits may be wrong");
    return *std::move(observed);
  }
  draft.warn("llm.observe", "not joined with " + request.observe + ": " + observed.error().message,
             fmt::format("aaco explain {} --observe SESSION joins them later", draft.manifest().id.text));
  return std::nullopt;
}

void store_outcome(const ReadyLoad& ready, const LoadWatch& watch, const std::vector<RanLevel>& levels,
                   const std::optional<ObservedServer>& observed, const LlmSummary& summary, SessionDraft& draft) {
  std::int64_t connections = 0;
  for (const RanLevel& level : levels) connections += level.outcome.connections;
  trace::Outcome& stored = draft.manifest().outcome;
  stored.model = shown(ready.plan.body.model, ready.plan);
  stored.llm = Json::object({{"url", shown(ready.plan.target.url(), ready.plan)},
                             {"connections", connections},
                             {"server_process_id", watch.server()},
                             {"summary", summary.sentence}});
  if (const auto& metrics = watch.metrics())
    stored.llm.set("server_metrics", Json::object({{"url", metrics->url()},
                                                   {"dialect", metrics->dialect()},
                                                   {"readings", metrics->readings()},
                                                   {"failures", metrics->failures()}}));
  if (observed)
    stored.llm.set("observed", Json::object({{"session", observed->session_id},
                                             {"host", observed->host},
                                             {"same_clock", observed->same_clock},
                                             {"synchronised", observed->synchronised},
                                             {"clock_error_ns", observed->clock_error_ns},
                                             {"covered_ratio", observed->covered_ratio}}));
}

LlmSummaryOptions summary_options(const LlmRequest& request, const LlmPlan& plan, const LoadWatch& watch,
                                  const std::optional<ObservedServer>& observed, const Services& services) {
  LlmSummaryOptions options{
      .slo = plan.slo,
      .price_per_hour = request.price_per_hour,
      .server_sampled = watch.server_sampled() || observed.has_value(),
      .client_ceiling = stored_client_ceiling(services.paths, hardware::take_inventory("/", services.environment).cpu.model),
      .definitions = plan.definitions,
      .ramp_ns = request.ramp_ns.value_or(0)};
  if (observed) options.machine = analytics::llm::kObservedRank;
  if (observed) options.clock_error_ns = observed->clock_error_ns;
  return options;
}

// Requests of several levels are no series of one load: latency is that of the level that counts.
void take_latency(trace::Metrics& metrics, const trace::Metrics& of_level) {
  std::erase_if(metrics, [](const trace::MetricValue& metric) { return metric.id.starts_with("latency."); });
  constexpr std::string_view kBefore = "llm.e2el_", kSent = "llm.e2el_sent_";
  for (trace::MetricValue metric : of_level)
    if (metric.id.starts_with(kBefore) && !metric.id.starts_with(kSent)) {
      metric.id = "latency." + metric.id.substr(kBefore.size());
      metrics.push_back(std::move(metric));
    }
}

core::Result<LlmOutcome> measure(const LlmRequest& request, const Services& asked) {
  Services services = asked;
  if (!request.observe.empty()) AACO_TRY(check_observed(request.observe, services));
  AACO_ASSIGN(ReadyLoad ready, connect(request, services));
  for (std::string& word : services.command_line) word = shown(std::move(word), ready.plan);
  AACO_ASSIGN(LoadWatch watch, LoadWatch::find(ready.plan, request, services));
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("llm", request.tag, to_json(request, ready.plan), services));
  LiveRecord live(services.paths.sessions, draft.manifest(), "language-model server");
  live.phase("measuring");
  if (ready.probed.no_usage_option)
    draft.warn("llm.usage_option", "the server does not accept stream_options: it was not asked for token counts",
               "count with --tokenizer");
  if (ready.probed.completion_limit)
    draft.warn("llm.completion_limit",
               "the server does not accept max_tokens: the length was asked for with max_completion_tokens",
               "reasoning counts towards it");
  if (ready.probed.no_length_control)
    draft.warn("llm.length_control",
               "the server does not accept ignore_eos and min_tokens: responses may be shorter than planned",
               "compare only runs with the same response lengths");
  warn_of_replay(ready.plan, draft);
  AACO_TRY(draft.write_lockbox(subject_of(ready.plan), Json::object()));
  AACO_ASSIGN(const auto journal, RequestJournal::open(draft.writer().path()));
  AACO_TRY(watch.start(draft));
  auto levels = run_levels(*ready.client, ready.plan, request, draft, *journal, services);
  watch.finish(draft);
  if (!levels) return tl::unexpected(std::move(levels).error());
  if (ready.plan.count_tokens) count_tokens(*levels, *ready.counter, services);
  services.progress("computing metrics");
  write_levels(*levels, draft.sink());
  const auto observed = observe(request, *levels, draft, services);
  AACO_TRY(draft.writer().flush());
  AACO_ASSIGN(LlmSummary summary,
              summarize_llm(draft.writer().path(), summary_options(request, ready.plan, watch, observed, services)));
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, 1));
  // Requests overlap: their number over the sum of their times is no throughput.
  std::erase_if(metrics, [](const trace::MetricValue& metric) { return metric.id.starts_with("throughput."); });
  if (ready.plan.levels.size() > 1) take_latency(metrics, summary.metrics);
  metrics.insert(metrics.end(), summary.metrics.begin(), summary.metrics.end());
  for (trace::Warning& warning : summary.warnings) draft.manifest().warnings.push_back(std::move(warning));
  warn_of_cap(*levels, request, draft);
  warn_of_held(*levels, draft);
  AACO_TRY(draft.writer().write_json("metrics/llm_summary.json", summary.document));
  store_outcome(ready, watch, *levels, observed, summary, draft);
  journal->discard();
  LlmOutcome outcome;
  const bool ended_by_client = services.stopping() || (request.cancel_after_ns && summary.cancelled > 0);
  outcome.all_cancelled = summary.complete == 0 && summary.failed == 0 && ended_by_client;
  outcome.all_failed = summary.complete == 0 && !outcome.all_cancelled;
  outcome.failure =
      summary.failure.empty() ? summary.sentence + (request.cancel_after_ns ? " (--cancel-after)" : "") : summary.failure;
  outcome.definitions = render_definitions(summary.document);
  AACO_ASSIGN(outcome.session, draft.finish(std::move(metrics), services.stopping()));
  return outcome;
}

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

core::Result<std::vector<hardware::Fact>> llm_facts(const LlmRequest& request, const Services& services) {
  AACO_ASSIGN(const LlmPlan plan, plan_llm(request, services));
  return subject_of(plan);
}

core::Result<LlmOutcome> llm(const LlmRequest& request, const Services& services) {
  Services stored = services;
  stored.command_line = without_header_values(services.command_line);
  return measure(request, stored);
}

}  // namespace aaco::workflows
