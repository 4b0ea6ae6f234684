#include "workflows/import/capture_map.h"

#include <algorithm>
#include <map>

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

void append(CaptureSink& sink, const std::string& name, Captures& captures) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::stable_sort(sink.calls().begin(), sink.calls().end(), by_start);
  std::stable_sort(sink.kernels().begin(), sink.kernels().end(), by_start);
  LaunchMap launches;
  analytics::attribution::LaunchFinder finder(sink.names(), launches);
  for (const auto& call : sink.calls()) finder.add(call);
  const auto text = [&](trace::NameId id) { return std::string(sink.names().text(id)); };
  const std::size_t before = captures.launches.size();
  for (const auto& kernel : sink.kernels()) {
    const auto launch = launches.launches.find(kernel.correlation_id);
    const auto op = launches.operators.find(kernel.external_id);
    CapturedLaunch captured{text(kernel.name), {}, {}};
    if (kernel.correlation_id != 0 && launch != launches.launches.end() &&
        !analytics::attribution::is_graph_launch(text(launch->second.api))) {
      captured.operator_name = text(launch->second.operator_name);
      captured.marker = text(launch->second.marker);
    } else if (kernel.external_id != 0 && op != launches.operators.end()) {
      captured.operator_name = text(op->second);
    }
    if (!captured.operator_name.empty() || !captured.marker.empty()) captures.launches.push_back(std::move(captured));
  }
  if (captures.launches.size() == before) {
    const auto kernels = launched_kernels(sink, sink.calls());
    for (const Launch& launch : launches.in_order)
      if (const auto kernel = kernels.find(launch.correlation_id);
          kernel != kernels.end() && (launch.operator_name.value != 0 || launch.marker.value != 0))
        captures.launches.push_back({kernel->second, text(launch.operator_name), text(launch.marker)});
  }
  if (captures.launches.size() == before)
    captures.warnings.push_back({"import.capture_empty",
                                 name + " contains no usable graph capture: no kernel in it can be linked to an operator",
                                 "trace the graph capture with CPU and GPU activities, including one run before it"});
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
