#include "workflows/ab/worker_outputs.h"

#include <cstddef>

#include "core/files.h"
#include "core/json.h"
#include "graph/element_type.h"
#include "runner/input_shapes.h"
#include "runner/inputs.h"

namespace aaco::workflows {
namespace {

using core::Json;

core::Result<std::vector<runner::TensorData>> inputs_of(const RunPlan& plan, const RunRequest& request, std::uint64_t seed) {
  runner::InputRequest wanted{request.inputs, request.shapes, request.dimensions, request.batch, plan.model_shapes, request.seed};
  if (seed != 0) {
    wanted.seed = seed;
    wanted.files.clear();
    // A file's shape is binding, also for generated values.
    AACO_ASSIGN(const runner::ResolvedShapes sizes,
                runner::resolve_inputs(plan.graph, {request.inputs, request.shapes, request.dimensions, request.batch,
                                                    plan.model_shapes, request.seed}));
    const auto declared = runner::declared_inputs(plan.graph);
    for (std::size_t i = 0; i < declared.size() && i < sizes.shapes.size(); ++i)
      if (request.inputs.contains(declared[i].name)) wanted.shapes[declared[i].name] = sizes.shapes[i];
  }
  AACO_ASSIGN(runner::ModelInputs inputs, runner::make_inputs(plan.graph, wanted));
  return std::move(inputs.tensors);
}

}  // namespace

core::Status write_model_outputs(runner::Backend& backend, const RunPlan& plan, const RunRequest& request, std::uint64_t seed,
                                 const std::string& file) {
  AACO_ASSIGN(const auto inputs, inputs_of(plan, request, seed));
  AACO_TRY(backend.bind(inputs));
  AACO_TRY(backend.run_once());
  AACO_ASSIGN(const auto outputs, backend.read_outputs());
  Json head = Json::array();
  std::string bytes;
  for (const auto& output : outputs) {
    Json shape = Json::array();
    for (const std::int64_t size : output.shape) shape.push(size);
    head.push(Json::object(
        {{"name", output.name}, {"type", to_string(output.type)}, {"shape", std::move(shape)}, {"bytes", output.bytes.size()}}));
    bytes.append(reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size());
  }
  AACO_TRY(core::write_file_atomic(file, head.dump(-1) + "\n" + bytes));
  AACO_ASSIGN(const auto own, inputs_of(plan, request, 0));
  AACO_TRY(backend.bind(own));
  return backend.run_once();  // the first call after binding allocates the outputs; the next one is timed
}

core::Result<std::vector<runner::TensorData>> read_model_outputs(const std::string& file) {
  constexpr std::int64_t kMaxBytes = std::int64_t{4} << 30;
  AACO_ASSIGN(const std::string text, core::read_file(file, kMaxBytes));
  const auto line = text.find('\n');
  if (line == std::string::npos) return core::fail(core::ErrorCode::invalid_input, file + " has no header line");
  AACO_ASSIGN(const Json head, Json::parse(std::string_view(text).substr(0, line)));
  std::vector<runner::TensorData> outputs;
  std::size_t at = line + 1;
  for (const Json& one : head.items()) {
    runner::TensorData& output = outputs.emplace_back();
    output.name = one["name"].text();
    output.type = graph::element_type_from_string(one["type"].text()).value_or(graph::ElementType::unknown);
    for (const Json& size : one["shape"].items()) output.shape.push_back(size.as_i64().value_or(0));
    const auto bytes = static_cast<std::size_t>(one["bytes"].as_u64().value_or(0));
    if (text.size() - at < bytes) return core::fail(core::ErrorCode::invalid_input, file + " is truncated");
    const auto* from = reinterpret_cast<const std::byte*>(text.data() + at);
    output.bytes.assign(from, from + bytes);
    at += bytes;
  }
  return outputs;
}

}  // namespace aaco::workflows
