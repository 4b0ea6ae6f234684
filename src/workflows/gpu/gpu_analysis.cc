#include "workflows/gpu_analysis.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_set>

#include "analytics/host_offset.h"
#include "core/files.h"
#include "trace/stored_names.h"
#include "tracelake/lake.h"
#include "workflows/gpu/analysis_columns.h"
#include "workflows/gpu/captured_names.h"
#include "workflows/gpu/collective_calls.h"
#include "workflows/gpu/device_metrics.h"
#include "workflows/gpu/device_state.h"
#include "workflows/gpu/device_steps.h"
#include "workflows/gpu/gpu_books.h"
#include "workflows/gpu/gpu_work.h"
#include "workflows/gpu/kernel_groups.h"
#include "workflows/gpu/launch_file.h"
#include "workflows/gpu/node_kernels.h"
#include "workflows/gpu/rank_times.h"
#include "workflows/gpu/repeated_kernels.h"
#include "workflows/gpu/stored_rows.h"
#include "workflows/gpu/timeline_watch.h"
#include "workflows/gpu/work_watch.h"
#include "workflows/session/row_puller.h"
#include "workflows/timeline_levels.h"

namespace aaco::workflows {
namespace {

using analytics::attribution::Launch;
using analytics::trace_time::DeviceTimeFold;
using analytics::trace_time::WorkKind;
using Device = DeviceState;

constexpr std::int64_t kMaxStoredSteps = 1'000'000, kRowsBetweenQuestions = 1 << 16;  // of whether to go on
// One walk over the trace feeds all parts.
class Analyser {
 public:
  Analyser(const std::string& path, const GpuAnalysisOptions& options, trace::Sink& sink, const Services& services,
           const GpuBooks& books)
      : path_(path),
        options_(options),
        sink_(sink),
        services_(services),
        stored_(names_, sink),
        levels_(options.levels, path, names_, sink),
        launches_(core::join_path(path, ".spill")),
        steps_(names_),
        books_(books),
        gaps_(names_, &books.causes, &books.confidences),
        groups_(books.kernels, names_),
        work_(names_) {}

  core::Result<GpuAnalysis> run() {
    if (!options_.find_steps) AACO_TRY(device_steps_.read(path_, names_));
    AACO_TRY(find_launches());
    AACO_TRY(read_counters());
    AACO_TRY(timeline_.look_ahead(result_.has_api_calls || result_.has_causes, path_, names_, books_.kernels,
                                  [this] { return go_on(); }));
    AACO_TRY(walk());
    AACO_TRY(count_graph());
    if (options_.find_steps) result_.steps = steps_.finish();
    AACO_TRY(join_graph());
    return finish();
  }

 private:
  core::Status go_on() const {
    if (services_.stopping()) return core::fail(core::ErrorCode::cancelled, "import interrupted", "run the import again");
    return sink_.status();
  }

  core::Status find_launches() {
    services_.progress("matching launches to kernels");
    analytics::attribution::LaunchFinder finder(names_, launches_);
    AACO_ASSIGN(const auto calls, tracelake::open_rows<trace::ApiCallRow>(path_, names_, {kOperatorArguments}));
    for (;;) {
      AACO_ASSIGN(const auto rows, calls->next());
      if (rows.empty()) break;
      for (const auto& row : rows) {
        finder.add(row);
        timeline_.add(row, names_);
        waits_.add(row, names_);
        levels_.add(row);
        if (options_.find_steps) steps_.add_call(row);
      }
      AACO_TRY(go_on());
    }
    levels_.end_table();
    launches_.seal();
    result_.has_api_calls = finder.launches() > 0;
    result_.has_causes = finder.causes() > 0;
    node_names_ = finder.node_names();
    return launches_.status();
  }

  // Kernels and copies in one order of start (a copy first); the calls follow as far as gaps ask for them.
  core::Status walk() {
    services_.progress("analysing device timelines");
    memset_ = names_.intern("memset");
    to_host_ = names_.intern("d2h");
    auto captures = capture_map_of(options_.captures, names_);
    result_.has_captures = !captures.empty();
    analytics::attribution::KernelAttributor attributor(names_, launches_, std::move(captures), std::move(node_names_));
    AACO_ASSIGN(auto kernels, RowPuller<trace::KernelRow>::open(path_, names_, without_registers()));
    AACO_ASSIGN(auto copies, RowPuller<trace::CopyRow>::open(path_, names_));
    AACO_ASSIGN(auto calls, RowPuller<trace::ApiCallRow>::open(path_, names_, {kNoArguments}));
    AACO_ASSIGN(auto schedule, RowPuller<trace::SchedEventRow>::open(path_, names_));
    calls_ = &calls, schedule_ = &schedule;
    for (std::int64_t rows = 1;; ++rows) {
      const trace::KernelRow* kernel = kernels.peek();
      const trace::CopyRow* copy = copies.peek();
      if (kernel == nullptr && copy == nullptr) break;
      if (copy != nullptr && (kernel == nullptr || copy->start_ns <= kernel->start_ns)) {
        levels_.add(*copy);
        AACO_TRY(add_copy(*copy));
        AACO_TRY(copies.pop());
      } else {
        levels_.add(*kernel);
        const Launch* launch = attributor.add(*kernel);
        AACO_TRY(add_kernel(*kernel, launch, attributor.replayed() != nullptr ? attributor.replayed() : launch));
        AACO_TRY(kernels.pop());
      }
      if (rows % kRowsBetweenQuestions == 0) AACO_TRY(go_on());
    }
    calls_ = nullptr, schedule_ = nullptr;
    AACO_TRY(levels_.finish());
    attribution_ = attributor.finish();
    return launches_.status();
  }

  Device& device(const DeviceKey& key) {
    const auto known = devices_.find(key);
    if (known != devices_.end()) return known->second;
    Device& fresh = devices_.try_emplace(key, Device(options_.convention)).first->second;
    for (auto& [other, state] : devices_)
      if (other.first == key.first && other != key) state.is_alone = fresh.is_alone = false;
    return fresh;
  }
  // Ranks that share a GPU are one device, under the rank that used it first.
  DeviceKey place_of(std::int32_t rank, std::int64_t number) {
    const DeviceKey key(options_.same_machine ? owners_.try_emplace(number, rank).first->second : rank, number);
    Device& place = device(key);
    if (place.ranks.empty() || options_.same_machine) place.ranks.insert(rank);
    return key;
  }

  // `shaped`: whose operator has the kernel's shapes.
  core::Status add_kernel(const trace::KernelRow& row, const Launch* launch, const Launch* shaped) {
    const DeviceKey key = place_of(row.rank, row.device);
    Device& place = device(key);
    if (options_.find_steps) steps_.add_kernel(row);
    if (repeated_.add(row)) ++place.repeated_kernels;
    const auto family = groups_.add(row);
    const auto kind = family == analytics::fingerprint::Family::collective ? WorkKind::collective : WorkKind::compute;
    work_.add(row, family, shaped);
    watch_.add(row, family);
    if (launch != nullptr) place.note_kernel(row.start_ns, row.end_ns, *launch);
    const analytics::trace_time::Work work{kind, {row.rank, row.stream}, row.start_ns, row.end_ns, span_of(launch)};
    return add_work(key, row.rank, work, row.name, launch, false, seen_kernels_.insert(row.name.value).second);
  }

  core::Status add_copy(const trace::CopyRow& row) {
    const DeviceKey key = place_of(row.rank, row.device);
    device(key).copies.add(row);
    const Launch* launch = launches_.find(row.rank, row.correlation_id);
    const WorkKind kind = row.kind == memset_ ? WorkKind::memset : WorkKind::copy;
    if (launch != nullptr && row.kind == to_host_ && analytics::trace_time::is_blocking_copy(names_.text(launch->api)))
      device(key).offset.add(launch->start_ns, row.start_ns, row.end_ns, launch->end_ns);
    return add_work(key, row.rank, {kind, {row.rank, row.stream}, row.start_ns, row.end_ns, span_of(launch)}, row.kind, launch,
                    true, false);
  }

  core::Status add_work(const DeviceKey& key, std::int32_t rank, const analytics::trace_time::Work& work, trace::NameId name,
                        const Launch* launch, bool is_copy, bool is_first) {
    Device& place = device(key);
    const auto idle = place.fold.add(work);
    place.copies.add(work, name, launch);
    if (place.last_end_ns == INT64_MIN) place.busy_since_ns = work.start_ns;
    if (launch != nullptr) {
      device_steps_.add(rank, launch->start_ns, work.start_ns, work.end_ns);
      // A wait is for one device: of a process with several it is not known which.
      const auto done = place.is_alone ? waits_.done_after(rank, launch->end_ns) : std::nullopt;
      place.offset.add(launch->start_ns, work.start_ns, work.end_ns, done);
    }
    if (is_first && launch != nullptr && launch->end_ns - launch->start_ns >= analytics::gaps::kLongLaunchNs)
      gaps_.note_first_launch(rank, launch->start_ns);
    timeline_.add_work(rank, work.start_ns, work.end_ns);
    if (idle && timeline_.has_timeline() && idle->end_ns - idle->start_ns >= options_.gap_threshold_ns) {
      analytics::gaps::Gap gap{rank, key.second, idle->start_ns,      idle->end_ns,      place.last_name,
                               name, {},         place.busy_since_ns, !place.has_kernels};
      place.busy_since_ns = idle->end_ns;
      if (launch != nullptr) gap.launch = place.next_launch(work.stream, *launch, is_copy, is_first, names_);
      gap.peer = peer_of(devices_, key, gap);
      AACO_TRY(explain(gap, place));
    }
    place.recent.add(work, name, launch);
    place.has_kernels = place.has_kernels || !is_copy;
    if (work.end_ns >= place.last_end_ns) {
      place.last_end_ns = work.end_ns;
      place.last_name = name;
    }
    return {};
  }

  // Calls are compared with the gap on their own clock; the row keeps the device's.
  core::Status explain(const analytics::gaps::Gap& of_device, Device& place) {
    const std::int64_t offset_ns = place.host_offset_ns();
    const auto gap = on_host_clock(of_device, offset_ns);
    std::vector<analytics::gaps::Idler> idlers;
    for (const auto& [key, device] : devices_)
      if (device.last_end_ns != INT64_MIN) idlers.push_back({key.first, device.last_end_ns + device.host_offset_ns()});
    gaps_.still_idle(std::move(idlers));
    for (const auto* call = calls_->peek(); call != nullptr && call->start_ns < gap.end_ns; call = calls_->peek()) {
      gaps_.add_call(*call);
      AACO_TRY(calls_->pop());
    }
    for (const auto* event = schedule_->peek(); event != nullptr && event->time_ns < gap.end_ns; event = schedule_->peek()) {
      gaps_.add_schedule(*event);
      AACO_TRY(schedule_->pop());
    }
    auto explained = gaps_.explain(gap);
    place.gaps.add(explained, books_.causes);
    trace::GapRow& row = explained.row;
    row.start_ns = of_device.start_ns, row.end_ns = of_device.end_ns;
    place.note_gap(row);
    for (trace::NameId* name : {&row.cause, &row.previous, &row.next, &row.evidence, &row.host_cause}) *name = stored_(*name);
    sink_.add(row);
    return {};
  }

  core::Status read_counters() {
    return tracelake::scan_table<trace::KernelCounterRow>(path_, names_, [&](std::span<const trace::KernelCounterRow> rows) {
      for (const auto& row : rows) {
        work_.add(row);
        if (!options_.counters_apart) timeline_.add(row);
      }
      return go_on();
    });
  }

  // Nodes of the graph and its iterations, for the kernels that a node became.
  core::Status count_graph() {
    AACO_ASSIGN(graph_nodes_, count_graph_nodes(path_, names_, [this] { return go_on(); }));
    if (options_.find_steps) return {};
    return tracelake::scan_table<trace::IterationRow>(path_, names_, [&](std::span<const trace::IterationRow> rows) {
      for (const auto& row : rows) count_step(row);
      return go_on();
    });
  }
  // A second walk over the kernels, now that the steps are known.
  core::Status join_graph() {
    GraphNodes graph = options_.graph;
    if (graph.nodes.empty()) {
      AACO_ASSIGN(graph, session_nodes(path_));
    }
    if (graph.nodes.empty() || devices_.empty()) return {};
    services_.progress("matching kernels to graph nodes");
    // Steps that are periods of the kernels begin with one, which was launched before.
    const bool by_host = !options_.find_steps || result_.steps.method != analytics::steps::Method::kernel_period;
    NodeKernels steps(names_, options_.find_steps ? result_.steps.iterations : stored_steps_);
    AACO_TRY(tracelake::scan_table<trace::KernelRow>(path_, names_, [&](std::span<const trace::KernelRow> rows) {
      for (const auto& row : rows) {
        const Launch* launch = by_host ? launches_.find(row.rank, row.correlation_id) : nullptr;
        steps.add(row, groups_.family_of(row.name), launch != nullptr ? std::optional(launch->start_ns) : std::nullopt);
      }
      return go_on();
    }));
    AACO_TRY(launches_.status());
    auto joined = steps.join(graph);
    take_nodes(attribution_, names_, std::move(joined.shares));
    result_.nodes = std::move(joined.summary);
    return {};
  }

  void count_step(const trace::IterationRow& row) {
    if (std::ssize(stored_steps_) < kMaxStoredSteps) stored_steps_.push_back(row);
    ++iterations_[row.rank];
    watch_.add(row);
    steps_time_[row.rank] += row.duration_ns;
  }

  void store() {
    store_rows(attribution_.rows, stored_, sink_);
    store_rows(groups_.rows(), stored_, sink_);
    for (const GpuOfTrace& gpu : result_.gpus) store_rates(gpu.rates, names_, sink_);
    if (!options_.keep_steps) return;
    for (const auto& hole : timeline_.holes()) device_steps_.add_hole(hole.rank, hole.start_ns, hole.end_ns);
    result_.has_device_steps = device_steps_.store(stored_(names_.intern(kDeviceStep)), sink_);
    for (trace::IterationRow row : result_.steps.iterations) {
      row.phase = stored_(row.phase);
      sink_.add(row);
    }
  }

  void append(trace::Metrics more) {
    result_.metrics.insert(result_.metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  void compare_ranks() {
    RankTimes ranks;
    for (const GpuOfTrace& gpu : result_.gpus) add_device(ranks, gpu.rank, gpu.time);
    result_.ranks = with_steps(std::move(ranks), iterations_, steps_time_);
    result_.skew = analytics::trace_time::rank_skew(result_.ranks);
    if (result_.skew) append(analytics::trace_time::skew_metrics(*result_.skew, result_.ranks.size()));
  }

  core::Result<GpuAnalysis> finish() {
    for (const auto& row : result_.steps.iterations) count_step(row);
    work_.finish(groups_.rows());
    std::set<std::int64_t> numbers;
    for (const auto& one : devices_) numbers.insert(one.first.second);
    const bool shared = numbers.size() < devices_.size();
    std::int64_t number = 0;
    for (auto& [key, device] : devices_) {
      GpuOfTrace gpu{.rank = key.first, .device = key.second};
      gpu.metric_device = shared ? number++ : key.second;
      gpu.time = device.fold.finish();
      gpu.ranks.assign(device.ranks.begin(), device.ranks.end());
      for (const std::int32_t rank : gpu.ranks) {
        gpu.coverage += attribution_.coverage[{rank, key.second}];
        gpu.known_family_ns += groups_.known_family_ns({rank, key.second});
      }
      gpu.queue = device.queue.finish();
      gpu.repeated_kernels = device.repeated_kernels;
      gpu.early_kernels = device.early_kernels;
      gpu.earliest_ns = device.earliest_ns;
      gpu.host_offset_ns = device.host_offset_ns();
      gpu.uncertain_idle_ratio = device.uncertain_idle_ratio();
      gpu.gaps = std::move(device.gaps.causes);
      gpu.copy_kinds = device.copies.to_json(names_);
      gpu.idle_causes = idle_causes_of(device.gaps, books_.causes, names_);
      const auto* seen = seen_device(options_.devices, key.first, key.second);
      work_.place(device.ranks, key.second, seen, services_, gpu.roofline, gpu.sites, gpu.kernel_limits, gpu.rates);
      gpu.findings = watch_.finish(key, gpu.time, seen != nullptr ? seen->units.value_or(0) : 0, names_);
      AACO_ASSIGN(gpu.findings.lead,
                  watch_.lead_time(path_, key.first, gpu.time, timeline_.host_start(key.first), books_.causes));
      const auto runs = iterations_.find(gpu.rank);
      append(metrics_of({gpu.metric_device, gpu.time, gpu.queue, gpu.coverage, gpu.known_family_ns, result_.has_api_calls,
                         runs == iterations_.end() ? 0 : runs->second * graph_nodes_}));
      append(roofline_metrics(gpu.roofline, gpu.time.kernel_sum_ns, gpu.metric_device));
      result_.gpus.push_back(std::move(gpu));
    }
    result_.no_timeline = timeline_.finish(result_.gpus, !options_.processes_differ, options_.is_cut);
    const auto& none = result_.no_timeline;
    if (!none || (none->reason != "merged-runs" && none->reason != "separate-windows")) compare_ranks();
    if (none) std::erase_if(result_.metrics, [&](const auto& one) { return is_unknown_without(*none, one.id); });
    store();
    AACO_TRY(store_collective_calls(path_, sink_));
    return std::move(result_);
  }

  const std::string& path_;
  const GpuAnalysisOptions& options_;
  trace::Sink& sink_;
  const Services& services_;
  trace::NameTable names_;
  trace::StoredNames stored_;
  TimelineLevels levels_;
  trace::NameId memset_, to_host_;
  LaunchFile launches_;
  RowPuller<trace::ApiCallRow>* calls_ = nullptr;  // these during the walk
  RowPuller<trace::SchedEventRow>* schedule_ = nullptr;
  std::map<DeviceKey, Device> devices_;
  std::map<std::int64_t, std::int32_t> owners_;  // by device, where ranks may share it: the rank that used it first
  analytics::steps::StepFinder steps_;
  DeviceSteps device_steps_;
  RepeatedKernels repeated_;
  const GpuBooks& books_;
  analytics::gaps::GapExplainer gaps_;
  std::unordered_set<std::uint32_t> seen_kernels_;  // names of those that ran in the trace before
  TimelineWatch timeline_;
  analytics::trace_time::DeviceWaits waits_;
  KernelGroups groups_;
  GpuWork work_;
  WorkWatch watch_;
  std::set<std::uint32_t> node_names_;
  std::vector<trace::IterationRow> stored_steps_;
  std::int64_t graph_nodes_ = 0;
  std::map<std::int32_t, std::int64_t> iterations_, steps_time_;  // by rank
  analytics::attribution::AttributionResult attribution_;
  GpuAnalysis result_;
};

}  // namespace

core::Result<GpuAnalysis> analyse_gpu(const std::string& session_path, const GpuAnalysisOptions& options, trace::Sink& sink,
                                      const Services& services) {
  AACO_ASSIGN(const GpuBooks books, GpuBooks::load(services.paths));
  return Analyser(session_path, options, sink, services, books).run();
}

}  // namespace aaco::workflows
