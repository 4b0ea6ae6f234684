#include "workflows/session_report/report_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>

#include "core/numbers.h"
#include "report/quantity.h"
#include "tracelake/lake.h"
#include "workflows/gpu_analysis.h"
#include "workflows/gpu_roofline.h"
#include "workflows/gpu_sites.h"
#include "workflows/import/import_totals.h"
#include "workflows/session_report/report_gpu_sections.h"
#include "workflows/session_report/short_names.h"

namespace aaco::workflows {
namespace {

using core::Json;
using report::TimeShare;

constexpr double kMuchLonger = 1.2;    // than the span of the device's work: then the headline says so
constexpr std::size_t kHeadlines = 3;  // a page adds the hardware efficiency
constexpr std::size_t kShownKernels = 200, kGaps = 50, kCauses = 50;

double sum_of(const report::ReportModel& model, std::string_view id) {
  double sum = 0;
  for (const auto& metric : model.metrics)
    if (metric.id == id) sum += metric.value;
  return sum;
}

constexpr std::string_view kComputes = "GPU compute";  // the part of a trace that its kernels are in

// Times are those of the whole trace, all devices.
void fill_parts(report::ReportModel& model) {
  // Between the kernels of merged runs and counter passes no time of the program passes.
  const std::string_view reason = model.session.outcome.gpu["no_timeline"]["reason"].text();
  const bool kernels_only = reason == "merged-runs" || reason == "counter-pass";
  const double span = sum_of(model, kernels_only ? "gpu.busy_ns" : "gpu.span_ns");
  if (span <= 0 || !model.parts.empty()) return;
  model.time_whole = kernels_only ? report::TimeWhole::kernels : report::TimeWhole::trace;
  model.time_devices = static_cast<std::int64_t>(model.session.outcome.gpu["gpus"].items().size());
  const double compute = sum_of(model, "gpu.compute_ns"), busy = sum_of(model, "gpu.busy_ns");
  const double communication = sum_of(model, "gpu.exposed_collective_ns");
  // A copy beside a collective counts as communication, so that the parts add up.
  const double copies = std::max(0.0, busy - compute - communication);
  std::vector<std::pair<std::string, double>> parts = {
      {std::string(kComputes), compute}, {"exposed communication", communication}, {"exposed copies", copies}};
  std::map<std::string, double> idle;
  double explained = 0;
  for (const Json& gpu : model.session.outcome.gpu["gpus"].items()) {
    // What the host did says more than that it was late; sessions of older versions have only that.
    const bool named = !gpu["idle_causes"].items().empty();
    for (const Json& gap : gpu[named ? "idle_causes" : "gaps"].items()) {
      const std::string words = named ? std::string(gap["title"].text()) : report::cause_words(gap["cause"].text());
      idle["idle: " + words] += gap["idle_ns"].as_f64().value_or(0);
      explained += gap["idle_ns"].as_f64().value_or(0);
    }
  }
  const std::size_t busy_parts = parts.size();
  for (const auto& [name, time] : idle) parts.emplace_back(name, time);
  std::stable_sort(parts.begin() + static_cast<std::ptrdiff_t>(busy_parts), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const Json& none = model.session.outcome.gpu["no_timeline"];
  const bool partial = none["reason"].text() == "collectives-only" || none["reason"].text() == "copies-only";
  parts.emplace_back(!none.is_object() ? "idle: short gaps"
                     : partial         ? "not recorded"
                                       : "idle: not explained",
                     std::max(0.0, span - busy - explained));
  for (const auto& [name, time] : parts) {
    if (time <= 0) continue;
    TimeShare share;
    share.name = name;
    share.total_ns = time;
    share.share_ratio = time / span;
    model.parts.push_back(share);
  }
  for (TimeShare& kernel : model.kernels)
    if (compute > 0 && kernel.group != "collective") kernel.parent = kComputes;
}

core::Status fill_kernels(report::ReportModel& model, LoadedSession& loaded) {
  const trace::NameTable& names = loaded.names();
  AACO_ASSIGN(const auto groups, loaded.rows<trace::KernelGroupRow>());
  const double span = sum_of(model, "gpu.span_ns");
  for (const auto& row : groups) {
    TimeShare share;
    share.name = names.text(row.kernel_name);
    share.group = names.text(row.family);
    share.provider = names.text(row.library);
    share.total_ns = static_cast<double>(row.kernel_sum_ns);
    share.share_ratio = span > 0 ? share.total_ns / span : 0;
    share.count = row.kernel_count;
    if (auto parameters = Json::parse(names.text(row.parameters)); parameters && parameters->is_object())
      share.detail = std::move(*parameters);
    model.kernels.push_back(std::move(share));
  }
  std::stable_sort(model.kernels.begin(), model.kernels.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  if (model.kernels.size() > kShownKernels) model.kernels.resize(kShownKernels);
  name_shortly(model.kernels);
  return {};
}

// The bar of totals: the kernels by what they do.
std::vector<TimeShare> families_of(const std::vector<report::ProfilerTotals::Entry>& kernels, double whole) {
  std::map<std::string, TimeShare> families;
  for (const auto& entry : kernels) {
    const std::string name = entry.family.value_or("");
    TimeShare& family = families[name];
    family.name = name;
    family.total_ns += static_cast<double>(entry.sum_ns);
    family.count += entry.count;
  }
  std::vector<TimeShare> list;
  for (auto& [name, family] : families) {
    if (whole <= 0 || family.total_ns <= 0) continue;
    family.share_ratio = family.total_ns / whole;
    list.push_back(std::move(family));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

// Of a session that holds totals in place of kernels; calls and sampled program counters beside them.
core::Status fill_totals(report::ReportModel& model, const std::string& session_path) {
  AACO_ASSIGN(const Json summary, read_kernel_summary(session_path));
  if (summary.is_null()) return {};
  report::ProfilerTotals totals = report::totals_from(summary);
  double whole = 0;
  for (const auto& entry : totals.kernels) whole += static_cast<double>(entry.sum_ns);
  const bool totals_only = model.kernels.empty();
  if (totals_only && model.parts.empty() && whole > 0) {
    model.time_whole = report::TimeWhole::kernels;
    model.parts = families_of(totals.kernels, whole);
  }
  for (const auto& entry : totals.kernels) {
    if (!totals_only || model.kernels.size() >= kShownKernels) break;
    TimeShare share;
    share.name = entry.name;
    share.group = entry.family.value_or("");
    share.provider = entry.library.value_or("");
    share.total_ns = static_cast<double>(entry.sum_ns);
    share.share_ratio = whole > 0 ? share.total_ns / whole : 0;
    share.count = entry.count;
    if (entry.parameters.is_object()) share.detail = entry.parameters;
    model.kernels.push_back(std::move(share));
  }
  if (totals_only) name_shortly(model.kernels);
  for (auto* list : {&totals.kernels, &totals.calls})
    if (list->size() > kCauses) list->resize(kCauses);
  model.sections.totals = std::move(totals);
  return {};
}

core::Status fill_attribution(report::ReportModel& model, const std::string& session_path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::AttributionRow>(session_path, names));
  if (rows.empty()) return {};
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> methods;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> causes;
  std::int64_t count = 0, sum = 0, known_count = 0, known_sum = 0;
  for (const auto& row : rows) {
    auto& method = methods[std::string(names.text(row.method))];
    method.first += row.kernel_count;
    method.second += row.kernel_sum_ns;
    count += row.kernel_count;
    sum += row.kernel_sum_ns;
    if (row.confidence <= 0) continue;
    known_count += row.kernel_count;
    known_sum += row.kernel_sum_ns;
    auto& cause = causes[std::string(names.text(row.operator_name.value != 0 ? row.operator_name : row.node_name))];
    cause.first += row.kernel_sum_ns;
    cause.second += row.kernel_count;
  }
  report::Attribution section{count, known_count, sum, known_sum, {}, {}};
  for (const auto& [name, total] : methods) section.methods.push_back({name, total.first, total.second});
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> largest;
  for (const auto& [name, total] : causes) largest.emplace_back(total.first, total.second, name);
  std::sort(largest.rbegin(), largest.rend());
  if (largest.size() > kCauses) largest.resize(kCauses);
  for (const auto& [time, kernels, name] : largest) section.operators.push_back({name, kernels, time});
  model.sections.attribution = std::move(section);
  return {};
}

report::Gaps::Gap gap_of(const trace::GapRow& row, const trace::NameTable& names) {
  const auto text = [&](trace::NameId id) { return std::string(names.text(id)); };
  report::Gaps::Gap gap;
  gap.rank = row.rank;
  gap.device = row.device;
  gap.start_ns = row.start_ns;
  gap.length_ns = row.end_ns - row.start_ns;
  gap.cause = text(row.cause);
  gap.confidence_ratio = row.confidence;
  gap.previous = text(row.previous);
  gap.next = text(row.next);
  if (row.evidence.value != 0) gap.evidence = text(row.evidence);
  gap.host_run_queue_ns = row.host_run_queue_ns;
  gap.host_off_cpu_ns = row.host_off_cpu_ns;
  if (row.host_cause.value != 0) gap.host_cause = text(row.host_cause);
  gap.host_cause_ns = row.host_cause_ns;
  return gap;
}

// Of all devices together.
void fill_host_causes(const Json& gpus, report::Gaps& section) {
  std::map<std::string, report::Gaps::HostCause> causes;
  double all = 0, unknown = 0;
  for (const Json& gpu : gpus.items())
    for (const Json& one : gpu["idle_causes"].items()) {
      auto& cause = causes[std::string(one["cause"].text())];
      cause.cause = one["cause"].text();
      cause.title = one["title"].text();
      cause.remedy = one["remedy"].text();
      cause.gap_count += one["gap_count"].as_i64().value_or(0);
      cause.idle_ns += one["idle_ns"].as_i64().value_or(0);
      all += one["idle_ns"].as_f64().value_or(0);
      if (cause.cause == "unknown") unknown += one["idle_ns"].as_f64().value_or(0);
    }
  for (auto& [id, cause] : causes) section.host_causes.push_back(std::move(cause));
  std::stable_sort(section.host_causes.begin(), section.host_causes.end(),
                   [](const auto& a, const auto& b) { return a.idle_ns > b.idle_ns; });
  if (all > 0) section.explained_ratio = 1 - unknown / all;
}

// There may be millions: they are summed while they pass, and the longest are kept.
// `devices`: their named causes.
core::Status fill_gaps(report::ReportModel& model, const std::string& session_path, const Json& devices) {
  trace::NameTable names;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> causes;
  std::vector<trace::GapRow> longest;
  std::int64_t scheduled = 0, run_queue_ns = 0, off_cpu_ns = 0;  // gaps whose host's scheduling was recorded
  const auto longer = [](const auto& a, const auto& b) {
    const auto length = a.end_ns - a.start_ns, other = b.end_ns - b.start_ns;
    return length != other ? length > other : a.start_ns < b.start_ns;
  };
  AACO_ASSIGN(
      const auto stream,
      tracelake::open_rows<trace::GapRow>(
          session_path, names,
          {{"evidence_start_ns", "NULL"}, {"evidence_end_ns", "NULL"}, {"launch_start_ns", "NULL"}, {"launch_end_ns", "NULL"}}));
  for (;;) {
    AACO_ASSIGN(const auto rows, stream->next());
    if (rows.empty()) break;
    for (const auto& row : rows) {
      auto& cause = causes[row.cause.value];
      ++cause.first;
      cause.second += row.end_ns - row.start_ns;
      if (longest.size() < kGaps || longer(row, longest.back())) {
        longest.insert(std::upper_bound(longest.begin(), longest.end(), row, longer), row);
        if (longest.size() > kGaps) longest.pop_back();
      }
      if (!row.host_run_queue_ns || !row.host_off_cpu_ns) continue;
      ++scheduled;
      run_queue_ns += *row.host_run_queue_ns;
      off_cpu_ns += *row.host_off_cpu_ns;
    }
  }
  if (longest.empty()) return {};
  report::Gaps section;
  for (const auto& [name, total] : causes) section.causes.push_back({std::string(names.text({name})), total.first, total.second});
  for (const auto& row : longest) section.longest.push_back(gap_of(row, names));
  fill_host_causes(devices, section);
  if (scheduled > 0) section.host = {scheduled, run_queue_ns, off_cpu_ns};
  model.sections.gaps = std::move(section);
  return {};
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

// (The sentences of one headline, above 400 lines.) A step that is much of the time, so that median and throughput say different
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
  const double total = sum_of(model, "gpu.kernel_sum_ns"), coverage = total > 0 ? attributed / total : 0;
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

core::Status fill_gpu(report::ReportModel& model, LoadedSession& loaded, const core::Paths& paths) {
  const std::string& session_path = loaded.path();
  AACO_TRY(fill_kernels(model, loaded));
  const bool has_kernels = !model.kernels.empty();
  AACO_TRY(fill_totals(model, session_path));
  // Without kernels there may be known idle times: record --hooks.
  if (!has_kernels) return fill_gaps(model, session_path, model.session.outcome.rest["gpu_calls"]["devices"]);
  fill_parts(model);
  fill_roofline(model, paths);
  fill_sites(model);
  AACO_TRY(fill_gpu_section(model, session_path, paths));
  AACO_TRY(fill_gpu_strip(model, loaded));
  AACO_TRY(fill_attribution(model, session_path));
  return fill_gaps(model, session_path, model.session.outcome.gpu["gpus"]);
}

}  // namespace aaco::workflows
