#include "workflows/gpu_analysis.h"

#include <algorithm>
#include <optional>

#include "analytics/fingerprint.h"
#include "core/files.h"
#include "tracelake/lake.h"
#include "workflows/kernel_groups.h"

namespace aaco::workflows {
namespace {

using analytics::attribution::Launch;
using analytics::attribution::LaunchIndex;
using analytics::trace_time::LaunchSpan;
using analytics::trace_time::Work;
using analytics::trace_time::WorkKind;
using DeviceKey = std::pair<std::int32_t, std::int64_t>;  // rank, device

// A copy, as small as it gets: they are kept while the kernels stream past.
struct CopyWork {
  std::int64_t start_ns = 0, end_ns = 0, stream = 0;
  std::uint64_t correlation_id = 0;
  trace::NameId kind;
};

class Analyser {
 public:
  Analyser(const std::string& path, const GpuAnalysisOptions& options, trace::Sink& sink, const Services& services,
           const analytics::fingerprint::PatternBook& book)
      : path_(path), options_(options), sink_(sink), services_(services), steps_(names_), gaps_(names_), groups_(book, names_) {}

  core::Result<GpuAnalysis> run() {
    AACO_TRY(read_calls());
    AACO_TRY(read_copies());
    AACO_TRY(read_kernels());
    AACO_TRY(explain_gaps());
    return finish();
  }

 private:
  struct Device {
    analytics::trace_time::DeviceTimeFold fold;
    std::vector<CopyWork> copies;
    std::size_t next_copy = 0;
    trace::NameId last_name;  // of the work that ended last
    std::int64_t last_end_ns = INT64_MIN;
  };

  core::Status go_on() const {
    if (services_.stopping()) return core::fail(core::ErrorCode::cancelled, "the import was stopped", "start it again");
    return sink_.status();
  }

  core::Status read_calls() {
    services_.progress("joining launches");
    analytics::attribution::LaunchIndexBuilder builder(names_);
    AACO_TRY(tracelake::scan_table<trace::ApiCallRow>(path_, names_, [&](std::span<const trace::ApiCallRow> rows) {
      for (const auto& row : rows) {
        builder.add(row);
        if (options_.find_steps) steps_.add_call(row);
      }
      return go_on();
    }));
    index_ = builder.finish();
    result_.has_api_calls = !index_.empty();
    return {};
  }

  core::Status read_copies() {
    return tracelake::scan_table<trace::CopyRow>(path_, names_, [&](std::span<const trace::CopyRow> rows) {
      for (const auto& row : rows)
        device({row.rank, row.device}).copies.push_back({row.start_ns, row.end_ns, row.stream, row.correlation_id, row.kind});
      return go_on();
    });
  }

  core::Status read_kernels() {
    services_.progress("following the devices' time");
    memset_ = names_.intern("memset");
    analytics::attribution::KernelAttributor attributor(names_, index_, {});
    AACO_TRY(tracelake::scan_table<trace::KernelRow>(path_, names_, [&](std::span<const trace::KernelRow> rows) {
      for (const auto& row : rows) add_kernel(row, attributor.add(row));
      return go_on();
    }));
    for (auto& [key, device] : devices_) add_copies_until(key, device, INT64_MAX);
    attribution_ = attributor.finish();
    return {};
  }

  Device& device(const DeviceKey& key) {
    return devices_.try_emplace(key, Device{analytics::trace_time::DeviceTimeFold(options_.convention), {}, 0, {}, INT64_MIN})
        .first->second;
  }

  void add_kernel(const trace::KernelRow& row, const Launch* launch) {
    const DeviceKey key(row.rank, row.device);
    Device& place = device(key);
    add_copies_until(key, place, row.start_ns);
    if (options_.find_steps) steps_.add_kernel(row);
    const bool collective = groups_.add(row) == analytics::fingerprint::Family::collective;
    const Work work{collective ? WorkKind::collective : WorkKind::compute, row.stream, row.start_ns, row.end_ns, span_of(launch)};
    add_work(key, place, work, row.name, launch, false);
  }

  // The copies that start no later than the next kernel come before it, so that the fold sees one order.
  void add_copies_until(const DeviceKey& key, Device& place, std::int64_t start_ns) {
    for (; place.next_copy < place.copies.size() && place.copies[place.next_copy].start_ns <= start_ns; ++place.next_copy) {
      const CopyWork& copy = place.copies[place.next_copy];
      const Launch* launch = index_.find(key.first, copy.correlation_id);
      const WorkKind kind = copy.kind == memset_ ? WorkKind::memset : WorkKind::copy;
      add_work(key, place, {kind, copy.stream, copy.start_ns, copy.end_ns, span_of(launch)}, copy.kind, launch, true);
    }
  }

  static std::optional<LaunchSpan> span_of(const Launch* launch) {
    if (launch == nullptr) return std::nullopt;
    return LaunchSpan{launch->start_ns, launch->end_ns};
  }

  void add_work(const DeviceKey& key, Device& place, const Work& work, trace::NameId name, const Launch* launch, bool is_copy) {
    const auto idle = place.fold.add(work);
    if (idle && idle->end_ns - idle->start_ns >= options_.gap_threshold_ns) {
      analytics::gaps::Gap gap{key.first, key.second, idle->start_ns, idle->end_ns, place.last_name, name, std::nullopt};
      if (launch != nullptr)
        gap.launch = analytics::gaps::NextLaunch{
            launch->start_ns, launch->end_ns, launch->thread_id,
            launch->api,      is_copy,        analytics::attribution::is_graph_launch(names_.text(launch->api))};
      gaps_.add_gap(gap);
    }
    if (work.end_ns >= place.last_end_ns) {
      place.last_end_ns = work.end_ns;
      place.last_name = name;
    }
  }

  core::Status explain_gaps() {
    if (gaps_.empty()) return {};
    services_.progress("explaining idle gaps");
    return tracelake::scan_table<trace::ApiCallRow>(path_, names_, [&](std::span<const trace::ApiCallRow> rows) {
      for (const auto& row : rows) gaps_.add_call(row);
      return go_on();
    });
  }

  // The names of what is stored belong to the sink's table.
  trace::NameId stored(trace::NameId id) { return sink_.name(names_.text(id)); }

  void store(const std::vector<trace::GapRow>& gaps) {
    for (trace::AttributionRow row : attribution_.rows) {
      row.node_name = stored(row.node_name);
      row.operator_name = stored(row.operator_name);
      row.kernel_name = stored(row.kernel_name);
      row.launch = stored(row.launch);
      row.method = stored(row.method);
      sink_.add(row);
    }
    for (trace::KernelGroupRow row : groups_.rows()) {
      row.kernel_name = stored(row.kernel_name);
      row.family = stored(row.family);
      row.library = stored(row.library);
      row.parameters = stored(row.parameters);
      sink_.add(row);
    }
    for (trace::GapRow row : gaps) {
      row.cause = stored(row.cause);
      row.previous = stored(row.previous);
      row.next = stored(row.next);
      row.evidence = stored(row.evidence);
      sink_.add(row);
    }
    for (trace::IterationRow row : result_.steps.iterations) {
      row.phase = stored(row.phase);
      sink_.add(row);
    }
  }

  void add_metrics(const GpuOfTrace& gpu) {
    const auto append = [&](trace::Metrics more) {
      result_.metrics.insert(result_.metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    append(analytics::trace_time::device_metrics(gpu.time, gpu.metric_device, result_.has_api_calls));
    append(analytics::attribution::coverage_metrics(gpu.coverage, gpu.metric_device));
    if (gpu.coverage.kernel_sum_ns > 0)
      result_.metrics.push_back({"fingerprint.time_coverage_ratio",
                                 static_cast<double>(gpu.known_family_ns) / static_cast<double>(gpu.coverage.kernel_sum_ns),
                                 "ratio",
                                 {},
                                 gpu.metric_device});
  }

  core::Result<GpuAnalysis> finish() {
    const auto gap_rows = gaps_.finish();
    if (options_.find_steps) result_.steps = steps_.finish();
    std::map<std::int64_t, int> sharing;
    for (const auto& [key, device] : devices_) ++sharing[key.second];
    const bool shared = std::any_of(sharing.begin(), sharing.end(), [](const auto& entry) { return entry.second > 1; });
    std::int64_t number = 0;
    for (auto& [key, device] : devices_) {
      GpuOfTrace gpu;
      gpu.rank = key.first;
      gpu.device = key.second;
      gpu.metric_device = shared ? number : key.second;
      ++number;
      gpu.time = device.fold.finish();
      gpu.coverage = attribution_.coverage[key];
      gpu.known_family_ns = groups_.known_family_ns(key);
      std::vector<trace::GapRow> own;
      std::copy_if(gap_rows.begin(), gap_rows.end(), std::back_inserter(own),
                   [&key = key](const auto& row) { return row.rank == key.first && row.device == key.second; });
      gpu.gaps = analytics::gaps::sum_by_cause(own, names_);
      add_metrics(gpu);
      result_.gpus.push_back(std::move(gpu));
    }
    store(gap_rows);
    AACO_TRY(sink_.status());
    return std::move(result_);
  }

  const std::string& path_;
  const GpuAnalysisOptions& options_;
  trace::Sink& sink_;
  const Services& services_;
  trace::NameTable names_;
  trace::NameId memset_;
  LaunchIndex index_;
  std::map<DeviceKey, Device> devices_;
  analytics::steps::StepFinder steps_;
  analytics::gaps::GapExplainer gaps_;
  KernelGroups groups_;
  analytics::attribution::AttributionResult attribution_;
  GpuAnalysis result_;
};

}  // namespace

core::Result<GpuAnalysis> analyse_gpu(const std::string& session_path, const GpuAnalysisOptions& options, trace::Sink& sink,
                                      const Services& services) {
  AACO_ASSIGN(const auto book, analytics::fingerprint::PatternBook::load(core::join_path(services.paths.share, "data/kernels")));
  return Analyser(session_path, options, sink, services, book).run();
}

}  // namespace aaco::workflows
