#include "workflows/session_report/report_gpu_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analytics/metric_catalogue.h"
#include "core/files.h"
#include "core/numbers.h"
#include "tracelake/lake.h"
#include "workflows/gpu_analysis.h"
#include "workflows/session/row_puller.h"
#include "workflows/session/step_time.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kStripSpans = 2'000;
constexpr std::int64_t kStripNs = 50'000'000;  // where there are no steps

report::GpuSection::Device device_of(const Json& gpu, const report::ReportModel& model,
                                     const analytics::metrics::MetricCatalogue& catalogue) {
  const std::int64_t number = gpu["metric_device"].as_i64().value_or(0);
  report::GpuSection::Device device;
  device.name = gpu_label(gpu["rank"].as_i64().value_or(0), gpu["device"].as_i64().value_or(0));
  device.bound = gpu["bound"]["limit"].as_string();
  const auto metric = [&](std::optional<double>& out, const char* id, std::string* band_name = nullptr) {
    const auto* value = trace::find_metric(model.metrics, id, number);
    if (value == nullptr) return;
    out = value->value;
    const auto* definition = catalogue.find(id);
    const auto* band =
        band_name != nullptr && definition != nullptr ? analytics::metrics::band_of(*definition, value->value) : nullptr;
    if (band != nullptr) *band_name = band->name;
  };
  metric(device.active_ratio, "gpu.active_ratio", &device.active_ratio_band);
  metric(device.launch_tax, "launch.tax", &device.launch_tax_band);
  metric(device.launch_lost_ratio, "launch.lost_time_ratio");
  metric(device.kernels_per_node, "launch.kernel_amplification_ratio", &device.kernels_per_node_band);
  metric(device.queue_depth, "launch.queue_depth_mean");
  metric(device.api_mean_ns, "launch.api_mean_ns");
  metric(device.queue_mean_ns, "launch.queue_mean_ns");
  metric(device.execution_mean_ns, "launch.execution_mean_ns");
  metric(device.roofline_ratio, "gpu.roofline_ratio");
  return device;
}

report::GpuSection::Rank rank_of(const Json& rank) {
  const auto whole = [&](std::string_view key) { return rank[key].as_i64().value_or(0); };
  return {whole("rank"),
          whole("span_ns"),
          whole("compute_ns"),
          whole("collective_count"),
          whole("collective_sum_ns"),
          whole("exposed_collective_ns"),
          whole("idle_ns"),
          rank["step_mean_ns"].as_f64()};
}

core::Result<std::vector<report::GpuSection::Family>> families(const std::string& session_path) {
  struct Sum {
    std::int64_t count = 0, ns = 0;
  };
  trace::NameTable names;
  std::map<std::uint32_t, Sum> sums;
  std::int64_t whole = 0;
  AACO_TRY(tracelake::scan_table<trace::KernelGroupRow>(session_path, names,
                                                        [&](std::span<const trace::KernelGroupRow> rows) -> core::Status {
                                                          for (const auto& row : rows) {
                                                            sums[row.family.value].count += row.kernel_count;
                                                            sums[row.family.value].ns += row.kernel_sum_ns;
                                                            whole += row.kernel_sum_ns;
                                                          }
                                                          return {};
                                                        }));
  std::vector<std::pair<std::uint32_t, Sum>> ordered(sums.begin(), sums.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  std::vector<report::GpuSection::Family> list;
  for (const auto& [family, sum] : ordered)
    list.push_back({std::string(names.text({family})), sum.count, sum.ns,
                    whole > 0 ? static_cast<double>(sum.ns) / static_cast<double>(whole) : 0.0});
  return list;
}

struct StripWindow {
  std::int64_t start_ns = INT64_MIN, end_ns = INT64_MAX;
};

// Of the step whose length is the median.
core::Result<StripWindow> strip_window(LoadedSession& loaded) {
  AACO_ASSIGN(const auto iterations, loaded.rows<trace::IterationRow>());
  std::vector<trace::IterationRow> rows(iterations.begin(), iterations.end());
  std::erase_if(rows, [&](const auto& row) { return loaded.names().text(row.phase) != "step"; });
  if (rows.empty()) return StripWindow{};
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  std::nth_element(rows.begin(), middle, rows.end(), [](const auto& a, const auto& b) { return a.duration_ns < b.duration_ns; });
  return StripWindow{middle->start_ns, middle->start_ns + middle->duration_ns};
}

std::string track_of(std::int32_t rank, std::int64_t device, std::int64_t stream) {
  return (rank > 0 ? "rank " + std::to_string(rank) + " " : "") + "GPU " + std::to_string(device) + " stream " +
         std::to_string(stream);
}

}  // namespace

core::Status fill_gpu_section(report::ReportModel& model, const std::string& session_path, const core::Paths& paths) {
  const Json& gpu = model.session.outcome.gpu;
  if (gpu["gpus"].items().empty()) return {};
  AACO_ASSIGN(const auto catalogue, analytics::metrics::MetricCatalogue::load(core::join_path(paths.share, "data/metrics")));
  report::GpuSection section;
  for (const Json& entry : gpu["gpus"].items()) section.devices.push_back(device_of(entry, model, catalogue));
  AACO_ASSIGN(section.families, families(session_path));
  if (const Json& convention = gpu["convention"]; convention.is_object())
    section.convention = {std::string(convention["orphan_kernels"].text()), std::string(convention["memset"].text()),
                          std::string(convention["span"].text())};
  for (const Json& rank : gpu["ranks"].items()) section.ranks.push_back(rank_of(rank));
  model.sections.gpu = std::move(section);
  return {};
}

core::Status fill_gpu_strip(report::ReportModel& model, LoadedSession& loaded) {
  AACO_ASSIGN(StripWindow window, strip_window(loaded));
  trace::NameTable& names = loaded.names();
  std::map<std::uint32_t, std::string> families;
  AACO_ASSIGN(const auto groups, loaded.rows<trace::KernelGroupRow>());
  for (const auto& row : groups) families.try_emplace(row.kernel_name.value, names.text(row.family));
  AACO_ASSIGN(auto kernels, RowPuller<trace::KernelRow>::open(loaded.path(), names));
  AACO_ASSIGN(auto copies, RowPuller<trace::CopyRow>::open(loaded.path(), names));
  const std::int64_t origin = model.session.phases.empty() ? 0 : model.session.phases.front().start_ns;
  std::size_t spans = 0;
  const auto add = [&](const auto& row, trace::NameId name, std::string group) {
    if (window.start_ns == INT64_MIN) window = {row.start_ns, row.start_ns + kStripNs};
    if (row.end_ns < window.start_ns || row.end_ns < row.start_ns) return;
    model.timeline.push_back({track_of(row.rank, row.device, row.stream), std::string(names.text(name)), std::move(group),
                              row.start_ns - origin, row.end_ns - row.start_ns});
    ++spans;
  };
  while (spans < kStripSpans) {
    const trace::KernelRow* kernel = kernels.peek();
    const trace::CopyRow* copy = copies.peek();
    const bool take_copy = copy != nullptr && (kernel == nullptr || copy->start_ns <= kernel->start_ns);
    if (kernel == nullptr && copy == nullptr) break;
    if ((take_copy ? copy->start_ns : kernel->start_ns) >= window.end_ns) break;
    if (take_copy) {
      add(*copy, copy->kind, "copy");
      AACO_TRY(copies.pop());
    } else {
      const auto family = families.find(kernel->name.value);
      add(*kernel, kernel->name, family == families.end() ? std::string() : family->second);
      AACO_TRY(kernels.pop());
    }
  }
  return {};
}

std::string period_of(const report::ReportModel& model) {
  const auto *range = find_metric(model.metrics, kStepRange), *period = find_metric(model.metrics, "latency.p50_ns");
  if (range == nullptr || period == nullptr) return {};
  return fmt::format(" A step's range takes {} (median), and {} pass from the start of one to the start of the next.",
                     core::format_duration(range->value), core::format_duration(period->value));
}

}  // namespace aaco::workflows
