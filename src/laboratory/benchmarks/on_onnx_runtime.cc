#include "core/files.h"
#include "core/numbers.h"
#include "graph/cost.h"
#include "graph/load.h"
#include "laboratory/benchmarks.h"
#include "laboratory/benchmarks/memory_need.h"
#include "laboratory/benchmarks/one_operator.h"
#include "laboratory/benchmarks/operator_share.h"
#include "laboratory/benchmarks/resident.h"
#include "laboratory/benchmarks/sized_model.h"
#include "laboratory/benchmarks/visit_times.h"
#include "runner/input_shapes.h"
#include "runner/inputs.h"
#include "runner/loop.h"
#include "runner/memory_fit.h"

namespace aaco::laboratory {
namespace {

using benchmarks::OneOperator;

constexpr int kProfiledCalls = 12, kProfiledWarmup = 3;

runner::LoopOptions warm_up_of(std::int64_t visit_ns) {
  runner::LoopOptions loop;
  loop.warmup_min_time = core::Nanoseconds(visit_ns / 6);
  loop.warmup_max_time = core::Nanoseconds(visit_ns / 2);
  return loop;
}

runner::InputRequest inputs_wanted(const BenchmarkCase& one, std::uint64_t seed) {
  runner::InputRequest wanted;
  wanted.seed = seed;
  if (one.kind == CaseKind::model)
    for (const auto& [name, size] : one.sizes) {
      if (name == "batch")
        wanted.batch = size;
      else
        wanted.dimensions[name] = size;
    }
  return wanted;
}

// A case that the kernel would end the process for is passed over: every later run would end at it again.
core::Status check_memory(const graph::Graph& graph, const BenchmarkCase& one, const OrtBenchmarkOptions& options) {
  AACO_ASSIGN(const auto sizes, runner::resolve_inputs(graph, inputs_wanted(one, options.seed)));
  const auto room = runner::memory_room();
  if (!room) return {};  // a kernel that does not tell
  const bool on_host = options.backend.provider == "CPUExecutionProvider";
  return runner::require_memory("this case", benchmarks::memory_needed(graph, sizes.dimensions, on_host), *room);
}

core::Result<runner::ModelInputs> inputs_of(const graph::Graph& graph, const BenchmarkCase& one,
                                            const OrtBenchmarkOptions& options) {
  AACO_TRY(check_memory(graph, one, options));
  return runner::make_inputs(graph, inputs_wanted(one, options.seed));
}

core::Result<std::unique_ptr<runner::Backend>> open(const std::string& path, const runner::ModelInputs& inputs,
                                                    runner::ort::Runtime& runtime, const OrtBenchmarkOptions& options,
                                                    bool profile) {
  runner::BackendOptions backend = options.backend;
  backend.profile = profile;
  if (profile) backend.profile_prefix = core::join_path(options.scratch, "profile");
  AACO_ASSIGN(auto opened, runtime.open_model(path, backend));
  AACO_TRY(opened->bind(inputs.tensors));
  return opened;
}

core::Status measure(runner::Backend& backend, const BenchmarkSuite& suite, const OrtBenchmarkOptions& options,
                     BenchmarkVisit& visit) {
  stats::StoppingRule rule(benchmarks::stopping_of(suite));
  rule.reserve();
  AACO_ASSIGN(const runner::LoopResult loop,
              runner::measure([&] { return backend.run_once(); }, warm_up_of(suite.visit_ns), rule, nullptr, *options.stop));
  if (loop.interrupted || loop.plain.empty())
    return core::fail(core::ErrorCode::cancelled, "stopped by the user while measuring " + visit.one.id);
  std::vector<double> times;
  for (const runner::TimedCall& call : loop.plain) times.push_back(static_cast<double>(call.duration_ns));
  benchmarks::summarize(std::move(times), visit);
  return {};
}

// Around a convolution the CPU provider changes the layout of what comes in and goes out, which within a network it does not.
core::Result<std::optional<double>> profiled_share(const std::string& path, const OneOperator& model,
                                                   const runner::ModelInputs& inputs, runner::ort::Runtime& runtime,
                                                   const OrtBenchmarkOptions& options) {
  AACO_ASSIGN(auto backend, open(path, inputs, runtime, options, true));
  for (int i = 0; i < kProfiledWarmup + kProfiledCalls; ++i) AACO_TRY(backend->run_once());
  AACO_ASSIGN(const auto profile, backend->end_profile());
  AACO_ASSIGN(const std::string text, core::read_file(profile.path));
  AACO_TRY(core::remove_tree(profile.path));
  return benchmarks::operator_share(text, model.measured, kProfiledWarmup);
}

core::Status visit_operator(const BenchmarkSuite& suite, const BenchmarkCase& one, runner::ort::Runtime& runtime,
                            const OrtBenchmarkOptions& options, BenchmarkVisit& visit) {
  AACO_ASSIGN(const OneOperator model, benchmarks::one_operator(one));
  AACO_ASSIGN(const runner::ModelInputs inputs, inputs_of(model.graph, one, options));
  benchmarks::Filling filling(model.graph, options.seed);
  const std::string path = core::join_path(options.scratch, "operator.onnx");
  AACO_TRY(graph::onnx::write(model.graph, &filling, path));
  {
    AACO_ASSIGN(const auto backend, open(path, inputs, runtime, options, false));
    AACO_TRY(measure(*backend, suite, options, visit));
    AACO_TRY(benchmarks::measure_power(
        options.power, [&] { return backend->run_once(); }, *options.stop, visit));
  }
  for (double* time : {&visit.median_ns, &visit.lowest_ns, &visit.p90_ns}) *time /= static_cast<double>(model.repeats);
  if (one.kind == CaseKind::convolution) {
    AACO_ASSIGN(visit.operator_ratio, profiled_share(path, model, inputs, runtime, options));
  }
  return core::remove_tree(path);
}

void count_work(const graph::Graph& graph, const std::map<std::string, std::int64_t>& dimensions, BenchmarkVisit& visit) {
  const auto model = benchmarks::model_at(graph, dimensions);
  if (!model) return;  // its time stands without its work
  const graph::GraphCost cost = graph::cost_of(model->graph);
  visit.flops = cost.flops;
  visit.bytes = cost.bytes_read + cost.bytes_written;
}

core::Status visit_model(const BenchmarkSuite& suite, const BenchmarkCase& one, runner::ort::Runtime& runtime,
                         const OrtBenchmarkOptions& options, BenchmarkVisit& visit) {
  AACO_ASSIGN(const std::string path, options.model_file(one.model));
  AACO_ASSIGN(const graph::Graph graph, graph::load(path));
  AACO_ASSIGN(const runner::ModelInputs inputs, inputs_of(graph, one, options));
  count_work(graph, inputs.dimensions, visit);
  benchmarks::trim_allocator();
  const bool counted = benchmarks::reset_peak();
  const auto before = benchmarks::resident();
  AACO_ASSIGN(const auto backend, open(path, inputs, runtime, options, false));
  const auto loaded = benchmarks::resident();
  AACO_TRY(measure(*backend, suite, options, visit));
  const auto after = benchmarks::resident();
  if (!counted || !before || !loaded || !after) return {};
  visit.resident_before_bytes = before->now_bytes;
  visit.resident_loaded_bytes = loaded->now_bytes;
  visit.resident_peak_bytes = after->peak_bytes;
  return {};
}

}  // namespace

BenchmarkVisitor on_onnx_runtime(runner::ort::Runtime& runtime, OrtBenchmarkOptions options) {
  return [&runtime, options = std::move(options)](const BenchmarkSuite& suite, BenchmarkVisit& visit) {
    const BenchmarkCase one = visit.one;
    if (one.kind == CaseKind::model) return visit_model(suite, one, runtime, options, visit);
    return visit_operator(suite, one, runtime, options, visit);
  };
}

}  // namespace aaco::laboratory
