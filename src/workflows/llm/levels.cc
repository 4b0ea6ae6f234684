#include "workflows/llm/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "analytics/llm.h"
#include "core/numbers.h"
#include "serving/rows.h"
#include "workflows/llm/summary.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kFilesBesideSockets = 64;
constexpr std::size_t kFlatSteps = 3;  // of a sweep with little gain in throughput (analytics::llm::kKneeGain) before it ends

// Complete answers as iterations, so that whatever works on iterations works on requests.
void write_iterations(const RanLevel& ran, std::int64_t& next, trace::Sink& sink) {
  for (const auto& record : ran.outcome.requests) {
    if (record.outcome != serving::Outcome::ok) continue;
    trace::IterationRow row{.iteration = next++, .phase = sink.name(ran.phase)};
    row.start_ns = record.scheduled_ns;
    row.duration_ns = record.end_ns - record.scheduled_ns;
    sink.add(row);
  }
}

core::Result<RanLevel> run_level(serving::Client& client, const LlmPlan& plan, const LlmLevel& level, const LlmRequest& request,
                                 std::uint64_t stream, RequestJournal& journal) {
  LlmWork work(plan, level, stream, &journal);
  RanLevel ran{.phase = {}, .load = level.name, .outcome = {}, .answers = {}};
  AACO_ASSIGN(
      ran.outcome,
      client.run({.concurrency = level.concurrency, .max_open = request.max_open, .duration_ns = level.duration_ns}, work));
  ran.answers = work.take_answers();
  return ran;
}

}  // namespace

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

core::Result<std::vector<RanLevel>> run_levels(serving::Client& client, const LlmPlan& plan, const LlmRequest& request,
                                               SessionDraft& draft, RequestJournal& journal, const Services& services) {
  std::vector<RanLevel> all;
  std::int64_t first_request = 0;
  const auto run = [&](const LlmLevel& level, const std::string& phase, std::uint64_t stream) -> core::Status {
    services.progress(phase == "warmup" ? "warming up" : level.name);
    journal.begin_level(phase, level.name, first_request);
    AACO_ASSIGN(RanLevel ran, run_level(client, plan, level, request, stream, journal));
    first_request += static_cast<std::int64_t>(ran.outcome.requests.size());
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
    const bool grows_no_more = curve.stopped_growing || curve.flat_steps >= kFlatSteps;
    const bool fails = analytics::llm::failed_share(loads.back()) > analytics::llm::kSweepFailures;
    if (curve.queues || grows_no_more || fails || (!plan.slo.empty() && curve.last_within_slo != i)) break;
  }
  return all;
}

void count_tokens(std::vector<RanLevel>& levels, const TokenCounter& counter, const Services& services) {
  services.progress("counting tokens");
  for (RanLevel& ran : levels)
    for (const auto& [request, text] : ran.answers) {
      if (services.stopping()) return;
      const auto tokens = counter.count(text);
      if (!tokens) continue;
      serving::RequestRecord& record = ran.outcome.requests[static_cast<std::size_t>(request)];
      record.usage.output_tokens = *tokens;
      record.token_source = counter.source();
    }
}

void write_levels(const std::vector<RanLevel>& levels, trace::Sink& sink) {
  std::int64_t first_request = 0, warmups = 0, measured = 0;
  for (const RanLevel& ran : levels) {
    serving::write_rows(ran.outcome, ran.phase, ran.load, first_request, sink);
    write_iterations(ran, ran.phase == "warmup" ? warmups : measured, sink);
    first_request += static_cast<std::int64_t>(ran.outcome.requests.size());
  }
}

}  // namespace aaco::workflows
