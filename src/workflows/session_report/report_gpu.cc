#include "workflows/session_report/report_gpu.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/numbers.h"
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

}  // namespace

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
