#include "runner/opencv_runtime.h"

#include "core/files.h"
#include "core/handles.h"
#include "runner/opencv/engine_entry.h"

namespace aaco::runner::opencv {
namespace {

using core::ErrorCode;

// A model and the library its code is in.
class OpenedModel final : public Backend {
 public:
  OpenedModel(core::SharedLibrary library, std::unique_ptr<Backend> model)
      : library_(std::move(library)), model_(std::move(model)) {}
  [[nodiscard]] const std::vector<TensorInfo>& inputs() const override { return model_->inputs(); }
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const override { return model_->outputs(); }
  core::Status bind(const std::vector<TensorData>& inputs) override { return model_->bind(inputs); }
  core::Status bind_next(std::vector<TensorData> inputs, const std::vector<CarriedValue>& carried) override {
    return model_->bind_next(std::move(inputs), carried);
  }
  core::Result<TensorView> view_output(std::string_view name) override { return model_->view_output(name); }
  core::Status run_once() override { return model_->run_once(); }
  core::Result<std::vector<TensorData>> read_outputs() override { return model_->read_outputs(); }
  [[nodiscard]] core::Json describe() const override { return model_->describe(); }
  core::Result<Profile> end_profile() override { return model_->end_profile(); }

 private:
  core::SharedLibrary library_;  // released after the model
  std::unique_ptr<Backend> model_;
};

core::Status check_options(const BackendOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& remedy) {
    return core::fail(ErrorCode::unsupported, "the backend 'opencv' does not support " + what, remedy);
  };
  if (options.profile) return refuse("--profile", "profile the model on another backend");
  if (!options.optimized_model_path.empty()) return refuse("writing the optimised graph", "use a backend of ONNX Runtime");
  if (!options.session_options.empty())
    return refuse("the session option '" + options.session_options.begin()->first + "'", "remove --session-option");
  if (!options.provider_options.empty())
    return refuse("the provider option '" + options.provider_options.begin()->first + "'", "remove --provider-option");
  return {};
}

}  // namespace

std::vector<std::string> library_candidates(const std::string& executable) {
  const std::string root = core::parent_path(core::parent_path(executable));
  return {core::join_path(root, "lib/libaaco_opencv.so"), core::join_path(root, "lib/aaco/libaaco_opencv.so")};
}

core::Result<std::unique_ptr<Backend>> open_model(const std::string& model_path, const BackendOptions& options,
                                                  const std::string& executable) {
  AACO_TRY(check_options(options));
  for (const std::string& path : library_candidates(executable)) {
    if (!core::exists(path)) continue;
    AACO_ASSIGN(core::SharedLibrary library, core::SharedLibrary::open(path));
    const auto open = library.function<OpenModel*>(kOpenModel);
    if (open == nullptr) return core::fail(ErrorCode::unsupported, path + " is not the OpenCV engine of AACO");
    core::Result<std::unique_ptr<Backend>> model;
    open(model_path, options, model);
    if (!model) return model;
    return std::make_unique<OpenedModel>(std::move(library), std::move(*model));
  }
  return core::fail(ErrorCode::unsupported, "this build does not include the OpenCV engine",
                    "install libopencv-dnn-dev and build again, or choose another --backend");
}

}  // namespace aaco::runner::opencv
