#include "workflows/trace_work.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "analytics/gap_causes.h"
#include "stats/distributions.h"
#include "stats/summary.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/session/step_time.h"

namespace aaco::workflows {
namespace {

using analytics::trace_time::Scatter;
using analytics::trace_time::StepTimer;
using analytics::trace_time::Window;
using analytics::trace_time::Windows;
using analytics::trace_time::WorkKind;

constexpr std::size_t kMaxSpans = 2'000'000;  // kept one by one
constexpr std::size_t kFewestSpans = 3;       // steps, for an interval of their mean

struct Span {
  std::int64_t device = 0;  // of a rank
  std::int64_t start_ns = 0, end_ns = 0;
  std::size_t step = 0;
};

// Zeros where it is not recorded, or larger than any device takes.
analytics::tracediff::Grid grid_of(const trace::KernelRow& row) {
  constexpr std::int64_t kMax = UINT32_MAX;
  const std::int64_t x = row.grid_x.value_or(0), y = row.grid_y.value_or(1), z = row.grid_z.value_or(1);
  if (x <= 0 || y <= 0 || z <= 0 || x > kMax || y > kMax || z > kMax) return {};
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}

core::Result<Windows> step_windows(const std::string& path, trace::NameTable& names) {
  Windows windows;
  AACO_ASSIGN(const auto stored, tracelake::read_table<trace::IterationRow>(path, names));
  AACO_ASSIGN(const trace::SessionManifest manifest, tracelake::read_manifest(path));
  const TimedIterations timed = timed_iterations(path, manifest.outcome.gpu, stored, names);
  for (const std::string_view phase : {"device_step", "step"}) {
    for (const auto& row : timed.rows)
      if (names.text(row.phase) == phase)
        windows[row.rank].push_back({row.start_ns, row.start_ns + row.duration_ns, timed.by_period()});
    if (!windows.empty()) break;
  }
  return windows;
}

// Collects device work into steps. Work outside every step is left out where there are steps.
class Collector {
 public:
  Collector(TraceWork& work, const Windows& windows, std::set<std::uint32_t> collectives)
      : work_(work), windows_(windows), timer_(windows), collectives_(std::move(collectives)) {
    std::size_t first = 0;
    for (const auto& [rank, list] : windows) {
      first_step_[rank] = first;
      first += list.size();
    }
    work.has_steps = first > 0;
    work.steps.resize(std::max<std::size_t>(1, first));
  }

  void add(const trace::KernelRow& row) {
    const auto step = step_of(row.rank, row.start_ns);
    const std::int64_t duration = row.end_ns - row.start_ns;
    if (!step || duration < 0) return;
    if (spans_.size() >= kMaxSpans) {
      work_.cut = true;
      return;
    }
    work_.steps[*step].push_back({work_.names.text(row.name), duration, grid_of(row)});
    scatters_[{row.name.value, row.grid_x.value_or(0) * row.grid_y.value_or(1) * row.grid_z.value_or(1)}].add(
        static_cast<double>(duration));
    spans_.push_back({device(row.rank, row.device), row.start_ns, row.end_ns, *step});
    const bool collective = collectives_.contains(row.name.value);
    timer_.add(row.rank, row.device, {collective ? WorkKind::collective : WorkKind::compute, row.name, row.start_ns, row.end_ns});
    if (!row.grid_x || *row.grid_x <= 0) return;
    const std::string name(work_.names.text(row.name));
    work_.grids[name + "\n" + std::to_string(*row.grid_x) + "x" + std::to_string(row.grid_y.value_or(1)) + "x" +
                std::to_string(row.grid_z.value_or(1))] += static_cast<double>(duration);
    double threads = 1;
    for (const auto& extent : {row.grid_x, row.grid_y, row.grid_z, row.block_x, row.block_y, row.block_z})
      threads *= static_cast<double>(extent.value_or(1));
    work_.threads[name].add(threads);
  }
  void add(const trace::CopyRow& row) {
    const auto step = step_of(row.rank, row.start_ns);
    if (!step || row.end_ns < row.start_ns || spans_.size() >= 2 * kMaxSpans) return;
    spans_.push_back({device(row.rank, row.device), row.start_ns, row.end_ns, *step});
    timer_.add(row.rank, row.device, {WorkKind::copy, row.kind, row.start_ns, row.end_ns});
  }
  // By what the host did, where that is known.
  void add(const trace::GapRow& row) {
    const std::string_view host = work_.names.text(row.host_cause);
    timer_.add_gap(row, std::string(host.empty() || host == "unknown" ? work_.names.text(row.cause) : host));
  }

  void finish() {
    const std::vector<double> busy = busy_by_step();
    std::vector<double> sums, counts;
    for (std::size_t i = 0; i < work_.steps.size(); ++i) {
      double sum = 0;
      for (const auto& call : work_.steps[i]) sum += static_cast<double>(call.duration_ns);
      sums.push_back(sum);
      counts.push_back(static_cast<double>(work_.steps[i].size()));
    }
    add_values(sums, counts, busy);
    for (const auto& [cause, list] : work_.time.idle_by_window) add_idle(cause, list);
    if (!work_.has_steps) return;
    work_.series["gpu.kernel_sum_ns"] = sums;
    work_.series["gpu.kernel_count"] = counts;
    work_.series["gpu.busy_ns"] = busy;
    const auto& spans = work_.time.span_by_window;
    if (spans.size() != busy.size()) return;  // several devices of a rank: each has the whole trace's
    std::vector<double> idle;
    for (std::size_t i = 0; i < busy.size(); ++i) idle.push_back(std::max(0.0, spans[i] - busy[i]));
    const double sum = std::accumulate(idle.begin(), idle.end(), 0.0);
    work_.values["gpu.idle_ns"] = {"gpu.idle_ns", sum / static_cast<double>(idle.size()), "ns", {}, {}};
    work_.series["gpu.idle_ns"] = std::move(idle);
  }

  [[nodiscard]] bool empty() const { return spans_.empty(); }

 private:
  static std::int64_t device(std::int32_t rank, std::int64_t number) { return (std::int64_t{rank} << 32) + number; }

  [[nodiscard]] std::optional<std::size_t> step_of(std::int32_t rank, std::int64_t start_ns) const {
    if (!work_.has_steps) return 0;
    const auto windows = windows_.find(rank);
    if (windows == windows_.end()) return std::nullopt;
    const auto& list = windows->second;
    const auto after = std::upper_bound(list.begin(), list.end(), start_ns,
                                        [](std::int64_t time, const Window& window) { return time < window.start_ns; });
    if (after == list.begin()) return std::nullopt;
    const auto index = static_cast<std::size_t>(after - list.begin()) - 1;
    if (list[index].closed && start_ns >= list[index].end_ns) return std::nullopt;
    // Work launched in a step may start after its end on the host: it still is that step's, until the next begins.
    return first_step_.at(rank) + index;
  }

  std::vector<double> busy_by_step() {
    std::stable_sort(spans_.begin(), spans_.end(), [](const Span& x, const Span& y) {
      return std::pair(x.device, x.start_ns) < std::pair(y.device, y.start_ns);
    });
    std::vector<double> busy(work_.steps.size(), 0.0);
    std::int64_t until = INT64_MIN, device = INT64_MIN;
    for (const Span& span : spans_) {
      if (span.device != device) until = INT64_MIN;
      device = span.device;
      const std::int64_t from = std::max(span.start_ns, until);
      if (span.end_ns > from) busy[span.step] += static_cast<double>(span.end_ns - from);
      until = std::max(until, span.end_ns);
    }
    return busy;
  }

  // Where steps are too few for a series: the mean step, its interval from the scatter of the calls of each kernel.
  void add_values(const std::vector<double>& sums, const std::vector<double>& counts, const std::vector<double>& busy) {
    const auto steps = static_cast<double>(work_.steps.size());
    double sum = 0, count = 0, union_ns = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) sum += sums[i], count += counts[i], union_ns += busy[i];
    const double scatter = call_variance();
    const double reach = stats::kNormal95 * std::sqrt(scatter);
    trace::MetricValue kernel_sum{"gpu.kernel_sum_ns", sum / steps, "ns", {}, {}};
    if (reach < sum) kernel_sum.ci95 = trace::Interval{(sum - reach) / steps, (sum + reach) / steps};
    work_.values["gpu.kernel_sum_ns"] = kernel_sum;
    work_.values["gpu.kernel_count"] = {"gpu.kernel_count", count / steps, "count", {}, {}};
    work_.values["gpu.busy_ns"] = {"gpu.busy_ns", union_ns / steps, "ns", {}, {}};
    work_.time = timer_.finish(scatter);
    const double span = work_.time.span_ns, around = stats::kNormal95 * std::sqrt(work_.time.variance_ns2);
    trace::MetricValue span_value{"gpu.span_ns", span, "ns", {}, {}};
    if (around < span) span_value.ci95 = trace::Interval{span - around, span + around};
    // Gaps before kernels of one name scatter by their place in the step; steps that repeat them scatter less.
    const bool one_device = windows_.size() == 1 && work_.time.span_by_window.size() == work_.steps.size();
    if (one_device && work_.steps.size() >= kFewestSpans)
      if (const auto steps_ci95 = stats::summarize(work_.time.span_by_window).mean_ci95;
          steps_ci95 && (!span_value.ci95 || steps_ci95->high - steps_ci95->low < span_value.ci95->high - span_value.ci95->low))
        span_value.ci95 = trace::Interval{steps_ci95->low, steps_ci95->high};
    if (span > 0) work_.values["gpu.span_ns"] = span_value;
  }

  void add_idle(const std::string& cause, const std::vector<double>& windows) {
    if (windows.empty()) return;
    const std::string id = analytics::gaps::idle_metric(cause);
    const double sum = std::accumulate(windows.begin(), windows.end(), 0.0);
    work_.values[id] = {id, sum / static_cast<double>(windows.size()), "ns", {}, {}};
    if (work_.has_steps) work_.series[id] = windows;
  }

  // Of the sum of all calls: those of one kernel on one grid scatter around their own mean.
  [[nodiscard]] double call_variance() const {
    double variance = 0;
    for (const auto& [kernel, one] : scatters_) variance += one.of_sum();
    return variance;
  }

  TraceWork& work_;
  const Windows& windows_;
  std::map<std::int32_t, std::size_t> first_step_;
  std::vector<Span> spans_;
  StepTimer timer_;
  std::set<std::uint32_t> collectives_;                                 // kernels by name
  std::map<std::pair<std::uint32_t, std::int64_t>, Scatter> scatters_;  // by name and size of the grid
};

core::Result<std::set<std::uint32_t>> collective_kernels(const std::string& path, trace::NameTable& names) {
  std::set<std::uint32_t> found;
  AACO_ASSIGN(const auto groups, tracelake::read_table<trace::KernelGroupRow>(path, names));
  for (const auto& row : groups)
    if (names.text(row.family) == "collective") found.insert(row.kernel_name.value);
  return found;
}

template <class Row>
core::Status collect(const std::string& path, TraceWork& work, Collector& collector) {
  return tracelake::scan_table<Row>(path, work.names, [&](std::span<const Row> rows) -> core::Status {
    for (const auto& row : rows) collector.add(row);
    return {};
  });
}

}  // namespace

core::Result<std::shared_ptr<const TraceWork>> load_trace_work(const std::string& session_path) {
  auto work = std::make_shared<TraceWork>();
  AACO_ASSIGN(const Windows windows, step_windows(session_path, work->names));
  AACO_ASSIGN(auto collectives, collective_kernels(session_path, work->names));
  Collector collector(*work, windows, std::move(collectives));
  AACO_TRY(collect<trace::KernelRow>(session_path, *work, collector));
  if (collector.empty()) return std::shared_ptr<const TraceWork>();
  AACO_TRY(collect<trace::CopyRow>(session_path, *work, collector));
  AACO_TRY(collect<trace::GapRow>(session_path, *work, collector));
  collector.finish();
  return std::shared_ptr<const TraceWork>(std::move(work));
}

}  // namespace aaco::workflows
