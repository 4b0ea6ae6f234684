#include "workflows/run/loaded_model.h"

#include "core/environment.h"
#include "core/strings.h"
#include "runner/inputs.h"
#include "runner/opencv_runtime.h"
#include "runner/ort_runtime.h"
#include "workflows/ort_build.h"
#include "workflows/run/memory_check.h"

namespace aaco::workflows {
namespace {

using core::Json;

std::string shape_text(const std::vector<runner::TensorData>& inputs) {
  std::string text;
  for (const auto& input : inputs) {
    std::vector<std::string> sizes;
    for (std::int64_t size : input.shape) sizes.push_back(std::to_string(size));
    text +=
        (text.empty() ? "" : "; ") + input.name + " " + std::string(to_string(input.type)) + "[" + core::join(sizes, ",") + "]";
  }
  return text;
}

Json describe_inputs(const runner::ModelInputs& inputs) {
  Json out = Json::array();
  for (std::size_t i = 0; i < inputs.tensors.size(); ++i) {
    const auto& tensor = inputs.tensors[i];
    Json shape = Json::array();
    for (std::int64_t size : tensor.shape) shape.push(size);
    out.push(Json::object({{"name", tensor.name},
                           {"type", to_string(tensor.type)},
                           {"shape", std::move(shape)},
                           {"values", inputs.origins[i].meaning}}));
  }
  return out;
}

core::Result<std::unique_ptr<runner::Backend>> open_backend(const RunPlan& plan, const RunRequest& request,
                                                            const runner::InputRequest& wanted, const Services& services) {
  if (plan.backend.provider == runner::opencv::kProvider)
    return runner::opencv::open_model(plan.model_path, plan.backend, core::executable_path());
  runner::BackendOptions options = plan.backend;
  if (const auto fixed = options.session_options.find(std::string(runner::kFixedDimensions));
      fixed != options.session_options.end() && fixed->second == "on") {
    AACO_ASSIGN(options.free_dimensions, runner::given_dimensions(plan.graph, wanted));
  }
  const std::string library = library_of(request.ort_library, request.backend, services.environment, services.paths);
  if (!own_loader(library).empty())
    return core::fail(core::ErrorCode::unsupported, library + " requires the C library in its folder",
                      "use it with 'aaco run', 'ab', 'optimize' or 'compiler', which start a process under its loader");
  AACO_ASSIGN(const auto runtime, runner::ort::Runtime::open({library, services.environment, services.paths}));
  return runtime->open_model(plan.model_path, options);
}

}  // namespace

core::Result<LoadedModel> load_model(const RunPlan& plan, const RunRequest& request, const Services& services) {
  const runner::InputRequest wanted{request.inputs, request.shapes,    request.dimensions,
                                    request.batch,  plan.model_shapes, request.seed};
  AACO_ASSIGN(const runner::ResolvedShapes sizes, runner::resolve_inputs(plan.graph, wanted));
  AACO_TRY(check_memory(plan, sizes));
  LoadedModel model;
  AACO_ASSIGN(model.backend, open_backend(plan, request, wanted, services));
  const Json described = model.backend->describe();
  model.runtime_name = described["runtime"].text();
  model.runtime_version = described["version"].text();
  model.runtime_build = described["build"].text();
  AACO_ASSIGN(const runner::ModelInputs inputs, runner::make_inputs(plan.graph, wanted));
  for (const auto& text : inputs.warnings)
    model.warnings.push_back({"inputs.assumed", text, "set it with --shape, --dim or --input"});
  model.batch = inputs.batch;
  model.inputs = describe_inputs(inputs);
  model.shapes_text = shape_text(inputs.tensors);
  AACO_TRY(model.backend->bind(inputs.tensors));
  return model;
}

}  // namespace aaco::workflows
