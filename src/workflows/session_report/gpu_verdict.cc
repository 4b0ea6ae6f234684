#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/numbers.h"
#include "report/quantity.h"
#include "workflows/gpu_analysis.h"
#include "workflows/session_report/report_gpu.h"
#include "workflows/session_report/report_gpu_sections.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kMuchLonger = 1.2;    // than the span of the device's work: then the headline says so
constexpr std::size_t kHeadlines = 3;  // a page adds the hardware efficiency

// Of all devices.
double kernel_time(const report::ReportModel& model) {
  double sum = 0;
  for (const auto& metric : model.metrics)
    if (metric.id == "gpu.kernel_sum_ns") sum += metric.value;
  return sum;
}

std::string in_words(std::string_view limit) {
  if (limit == "compute") return "mostly busy with kernels";
  if (limit == "communication") return "bound by exposed communication";
  if (limit == "copy") return "bound by exposed copies";
  if (limit == "launch") return "launch-bound";
  if (limit == "none") return "the trace does not tell what limits it";
  if (limit == "warmup") return "limited by warm-up inside the trace (code loaded or compiled at first use)";
  return limit == "held" ? "launched work held back on the device" : "host-bound: GPU starved";
}

// "Limited by copies" inside a sentence.
std::string in_sentence(std::string title) {
  if (!title.empty()) title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
  return title;
}

// Of the statement in the sentence, and the same number as in the section.
std::string confidence_of(const std::vector<report::Statement>& why) {
  if (why.empty() || !why.front().confidence_ratio) return "none: bottleneck not determined";
  const double ratio = *why.front().confidence_ratio;
  return fmt::format("{}: {} that this is the bottleneck",
                     ratio >= 0.9   ? "high"
                     : ratio >= 0.6 ? "medium"
                                    : "low",
                     report::format_estimate(ratio));
}

// The steps may be much longer than the device's span: what came before its first and after its last work is in no share.
std::string outside_span(const report::ReportModel& model, double span_ns) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const auto& one : model.iterations) {
    if (one.phase != "step") continue;
    first = std::min(first, one.start_ns);
    last = std::max(last, one.start_ns + one.duration_ns);
  }
  const double steps_ns = last > first ? static_cast<double>(last - first) : 0;
  if (steps_ns <= kMuchLonger * span_ns) return {};
  // The cause may be judged by the steps; busy time and the bar below never are.
  return model.why_cause.find(" of the steps)") != std::string::npos
             ? fmt::format(
                   " The steps last {}, with the host's time before the first and after the last device work; the bar "
                   "below is of the device's span.",
                   core::format_duration(steps_ns))
             : fmt::format(
                   " Its steps last {}: host time before the first and after the last device work is not in these shares.",
                   core::format_duration(steps_ns));
}

// A step that is much of the time, so that median and throughput say different
// things.
std::string uneven_steps(const Json& uneven) {
  if (!uneven.is_object()) return {};
  const auto of = [&](std::string_view key) { return uneven[key].as_i64().value_or(0); };
  const std::string share = core::format_percent(uneven["long_ratio"].as_f64().value_or(0));
  if (of("long_count") > 1)
    return fmt::format(" {} of its {} steps take {} of the steps' time.", of("long_count"), of("step_count"), share);
  return fmt::format(" Step {} of {} takes {} of the steps' time.", of("longest_step"), of("step_count"), share);
}

// The rank that the others wait for.
std::string straggler_of(const Json& straggler) {
  const auto rank = straggler["rank"].as_i64();
  return rank ? fmt::format(" Rank {} arrives last at the collectives: the others wait for it.", *rank) : std::string();
}

}  // namespace

std::optional<VerdictText> gpu_verdict(const report::ReportModel& model) {
  const auto& gpus = model.session.outcome.gpu["gpus"].items();
  if (model.session.kind != "import" || gpus.empty()) return std::nullopt;
  const Json* idlest = nullptr;
  double lowest = 2;
  for (const Json& gpu : gpus) {
    const auto* busy = find_metric(model.metrics, "gpu.busy_ns", gpu["metric_device"].as_i64());
    const auto* span = find_metric(model.metrics, "gpu.span_ns", gpu["metric_device"].as_i64());
    if (busy == nullptr || span == nullptr || span->value <= 0 || busy->value / span->value >= lowest) continue;
    lowest = busy->value / span->value;
    idlest = &gpu;
  }
  if (idlest == nullptr) return std::nullopt;
  const std::int64_t number = (*idlest)["metric_device"].as_i64().value_or(0);
  const std::string name = gpu_label((*idlest)["rank"].as_i64().value_or(0), (*idlest)["device"].as_i64().value_or(0));
  VerdictText verdict;
  if (gpus.size() > 1) verdict.headline_of = report::HeadlineDevice{number, name};
  // Where nothing else was recorded, busy time would be a claim about what was not.
  const Json& none = model.session.outcome.gpu["no_timeline"];
  const bool collectives_only = none["reason"].text() == "collectives-only";
  // Traces that are no ranks of one job are runs, whatever device each used.
  if (gpus.size() > 1 && none["reason"].text() == "merged-runs")
    verdict.sentence =
        model.session.outcome.files.items().size() > 1
            ? fmt::format("{} separate runs, not {} GPUs of one job: import them one by one.", gpus.size(), gpus.size())
            : fmt::format("Runs merged into one file, not {} GPUs of one job: only the kernels can be judged.", gpus.size());
  else
    verdict.sentence =
        fmt::format("{}{} {} for {} of {}; {}.", gpus.size() > 1 ? fmt::format("Least busy of {} GPUs: ", gpus.size()) : "", name,
                    collectives_only ? "runs collectives" : "is busy", core::format_percent(lowest),
                    core::format_duration(find_metric(model.metrics, "gpu.span_ns", number)->value),
                    model.why.empty() ? in_words((*idlest)["bound"]["limit"].text())
                                      : in_sentence(model.why.front().title) + model.why_cause) +
        outside_span(model, find_metric(model.metrics, "gpu.span_ns", number)->value) + period_of(model) +
        uneven_steps((*idlest)["findings"]["uneven_steps"]) + straggler_of(model.session.outcome.gpu["straggler"]);
  double attributed = 0;
  for (const Json& gpu : gpus) attributed += gpu["attributed_kernel_ns"].as_f64().value_or(0);
  const double total = kernel_time(model), coverage = total > 0 ? attributed / total : 0;
  verdict.confidence = confidence_of(model.why) + fmt::format("; {} of the kernel time is attributed to an operator or range",
                                                              core::format_percent(coverage));
  // Of marked steps first: what one compares between traces.
  for (const char* id : {"latency.p50_ns", "throughput.items_per_second"})
    if (find_metric(model.metrics, id)) verdict.headline_metrics.emplace_back(id);
  // Without a timeline the time between kernels means nothing.
  const auto of_device = none.is_object() ? std::array<const char*, 3>{"gpu.kernel_sum_ns", "gpu.kernel_count", "gpu.copy_sum_ns"}
                                          : std::array<const char*, 3>{"gpu.busy_ns", "gpu.idle_ns", "gpu.active_ratio"};
  for (const char* id : of_device)
    if (verdict.headline_metrics.size() < kHeadlines && find_metric(model.metrics, id, number))
      verdict.headline_metrics.emplace_back(id);
  return verdict;
}

}  // namespace aaco::workflows
