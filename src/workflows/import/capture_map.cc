#include "workflows/import/capture_map.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "analytics/attribution.h"
#include "core/files.h"
#include "importers/discovery.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "trace/partial_sink.h"

namespace aaco::workflows {
namespace {

using analytics::attribution::ExternalOperator;
using analytics::attribution::Launch;

constexpr std::size_t kMaxRows = 20'000'000;  // of a capture: it is one step of a model
// Without calls that begin a capture: recorded launches fewer than this part of the kernels that ran are launches whose kernels
// were lost.
constexpr std::size_t kFewRecorded = 10;

// Keeps the kernels and calls of one file.
class CaptureSink final : public trace::PartialSink {
 public:
  using PartialSink::add;
  void add(const trace::KernelRow& row) override { keep(kernels_, row); }
  void add(const trace::ApiCallRow& row) override { keep(calls_, row); }
  [[nodiscard]] core::Status status() const override {
    if (kernels_.size() + calls_.size() < kMaxRows) return {};
    return core::fail(core::ErrorCode::exhausted, "the capture trace has more than 20 million events",
                      "record a trace of the graph capture only");
  }
  std::vector<trace::KernelRow>& kernels() { return kernels_; }
  std::vector<trace::ApiCallRow>& calls() { return calls_; }

 private:
  template <class Row>
  static void keep(std::vector<Row>& rows, const Row& row) {
    if (rows.size() < kMaxRows) rows.push_back(row);
  }
  std::vector<trace::KernelRow> kernels_;
  std::vector<trace::ApiCallRow> calls_;
};

class LaunchMap final : public analytics::attribution::LaunchStore {
 public:
  void add(const Launch& launch) override {
    const auto [place, fresh] = launches.try_emplace(launch.correlation_id, launch);
    if (!fresh && launch.launches && !place->second.launches) place->second = launch;
    if (launch.launches) in_order.push_back(launch);
  }
  void add(const ExternalOperator& op) override { operators.try_emplace(op.external_id, op.name); }
  std::map<std::uint64_t, Launch> launches;
  std::vector<Launch> in_order;
  std::map<std::uint64_t, trace::NameId> operators;
};

// The kernel that a call says it launches: {"kernel": "..."} among its arguments.
std::map<std::uint64_t, std::string> launched_kernels(const CaptureSink& sink, const std::vector<trace::ApiCallRow>& calls) {
  std::map<std::uint64_t, std::string> kernels;
  for (const auto& call : calls) {
    if (call.correlation_id == 0 || call.arguments == trace::NameId()) continue;
    const auto arguments = core::Json::parse(sink.names().text(call.arguments));
    if (!arguments) continue;
    if (const auto kernel = (*arguments)["kernel"].as_string(); kernel && !kernel->empty())
      kernels.try_emplace(call.correlation_id, *kernel);
  }
  return kernels;
}

// What a launch was made under.
void take_cause(const trace::NameTable& names, const Launch& launch, CapturedLaunch& captured) {
  const auto text = [&](trace::NameId id) { return std::string(names.text(id)); };
  captured.operator_name = text(launch.operator_name);
  captured.marker = text(launch.marker);
  captured.shaped_operator = text(launch.shaped_operator);
  captured.arguments = text(launch.operator_arguments);
  captured.shaped_start_ns = launch.shaped_start_ns;
}

// Times between the calls that begin and end a capture; empty: the trace has no such calls.
std::vector<std::pair<std::int64_t, std::int64_t>> capture_windows(const CaptureSink& sink,
                                                                   const std::vector<trace::ApiCallRow>& calls) {
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;
  for (const auto& call : calls) {
    const std::string_view name = sink.names().text(call.name);
    if (name.ends_with("StreamBeginCapture") || name.ends_with("StreamBeginCapture_v2"))
      windows.emplace_back(call.start_ns, INT64_MAX);
    else if (name.ends_with("StreamEndCapture") && !windows.empty() && windows.back().second == INT64_MAX)
      windows.back().second = call.start_ns;
  }
  return windows;
}

// Launches that name their kernel and did not run: they were recorded into a graph. Kernels that did run beside them (warm-up,
// copies of inputs) are not part of it.
std::vector<CapturedLaunch> recorded_launches(const CaptureSink& sink, const LaunchMap& launches, std::int32_t first_graph,
                                              const std::vector<trace::KernelRow>& ran,
                                              const std::vector<trace::ApiCallRow>& calls) {
  const auto kernels = launched_kernels(sink, calls);
  const auto windows = capture_windows(sink, calls);
  std::set<std::uint64_t> executed;
  for (const auto& kernel : ran) executed.insert(kernel.correlation_id);
  std::vector<CapturedLaunch> recorded;
  std::size_t window = 0;
  for (const Launch& launch : launches.in_order) {
    const auto kernel = kernels.find(launch.correlation_id);
    if (kernel == kernels.end() || executed.contains(launch.correlation_id)) continue;
    while (window + 1 < windows.size() && launch.start_ns >= windows[window + 1].first) ++window;
    if (!windows.empty() && (launch.start_ns < windows[window].first || launch.start_ns > windows[window].second)) continue;
    CapturedLaunch captured;
    captured.kernel = kernel->second;
    captured.graph = first_graph + static_cast<std::int32_t>(window);
    take_cause(sink.names(), launch, captured);
    recorded.push_back(std::move(captured));
  }
  const bool has_cause = std::any_of(recorded.begin(), recorded.end(),
                                     [](const auto& one) { return !one.operator_name.empty() || !one.marker.empty(); });
  const bool few = windows.empty() && kFewRecorded * recorded.size() < ran.size();
  return has_cause && !few ? recorded : std::vector<CapturedLaunch>();
}

// Kernels of runs before the capture, each under its launch.
std::vector<CapturedLaunch> executed_launches(const CaptureSink& sink, const LaunchMap& launches, std::int32_t graph,
                                              const std::vector<trace::KernelRow>& ran) {
  std::vector<CapturedLaunch> list;
  for (const auto& kernel : ran) {
    const auto launch = launches.launches.find(kernel.correlation_id);
    const auto op = launches.operators.find(kernel.external_id);
    CapturedLaunch captured;
    captured.kernel = sink.names().text(kernel.name);
    captured.graph = graph;
    if (kernel.correlation_id != 0 && launch != launches.launches.end() &&
        !analytics::attribution::is_graph_launch(sink.names().text(launch->second.api)))
      take_cause(sink.names(), launch->second, captured);
    else if (kernel.external_id != 0 && op != launches.operators.end())
      captured.operator_name = sink.names().text(op->second);
    if (!captured.operator_name.empty() || !captured.marker.empty()) list.push_back(std::move(captured));
  }
  return list;
}

void append(CaptureSink& sink, const std::string& name, Captures& captures) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::stable_sort(sink.calls().begin(), sink.calls().end(), by_start);
  std::stable_sort(sink.kernels().begin(), sink.kernels().end(), by_start);
  LaunchMap launches;
  analytics::attribution::LaunchFinder finder(sink.names(), launches);
  for (const auto& call : sink.calls()) finder.add(call);
  const std::int32_t graph = captures.launches.empty() ? 0 : captures.launches.back().graph + 1;
  auto found = recorded_launches(sink, launches, graph, sink.kernels(), sink.calls());
  if (found.empty()) found = executed_launches(sink, launches, graph, sink.kernels());
  if (found.empty())
    captures.warnings.push_back({"import.capture_empty",
                                 name + " contains no usable graph capture: no kernel in it can be linked to an operator",
                                 "trace the graph capture with CPU and GPU activities, including one run before it"});
  std::move(found.begin(), found.end(), std::back_inserter(captures.launches));
}

}  // namespace

core::Result<Captures> read_captures(const std::vector<std::string>& paths, const Services& services) {
  Captures captures;
  auto known = importers::builtin_importers();
  for (const std::string& path : paths) {
    AACO_ASSIGN(const auto found, importers::discover(path, known));
    for (const auto& file : found.files) {
      if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "import interrupted", "run the import again");
      services.progress("reading capture " + core::base_name(file.path));
      importers::kineto::Options options;
      options.launched_kernels = true;
      const auto kineto = importers::kineto::make_importer(options);
      const importers::Importer& importer =
          file.importer->info().grouping == importers::Grouping::traces ? *kineto : *file.importer;
      CaptureSink sink;
      AACO_ASSIGN(const auto source, importers::open_file_source(file.path));
      AACO_ASSIGN(auto result, importers::import_source(importer, *source, sink));
      AACO_TRY(sink.status());
      result.account.source += ".capture";
      captures.accounts.push_back(std::move(result.account));
      for (auto& warning : result.warnings) captures.warnings.push_back(std::move(warning));
      append(sink, core::base_name(file.path), captures);
    }
  }
  return captures;
}

}  // namespace aaco::workflows
