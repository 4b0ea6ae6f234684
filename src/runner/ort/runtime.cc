#include <algorithm>

#include "core/files.h"
#include "core/private_library.h"
#include "core/strings.h"
#include "runner/ort/api.h"
#include "runner/ort/session.h"
#include "runner/ort_runtime.h"

namespace aaco::runner::ort {
namespace {

using core::ErrorCode;

class OpenedRuntime final : public Runtime {
 public:
  explicit OpenedRuntime(std::shared_ptr<Api> api) : api_(std::move(api)) {}
  [[nodiscard]] const std::string& version() const override { return api_->version; }
  [[nodiscard]] const std::string& library_path() const override { return api_->library.path(); }
  [[nodiscard]] const std::vector<std::string>& available_providers() const override { return api_->providers; }

  core::Result<std::unique_ptr<Backend>> open_model(const std::string& model_path, const BackendOptions& options) override {
    AACO_TRY(check_provider(options));
    return open_session(api_, model_path, options);
  }

  [[nodiscard]] core::Status check_provider(const BackendOptions& options) const override {
    const bool present = std::find(api_->providers.begin(), api_->providers.end(), options.provider) != api_->providers.end();
    if (present || options.allow_fallback) return {};
    return core::fail(ErrorCode::unsupported,
                      "the backend '" + options.backend + "' requires " + options.provider + ", but ONNX Runtime " +
                          api_->version + " (" + api_->library.path() + ") only provides " + core::join(api_->providers, ", "),
                      "use a build that provides it (--ort-lib FILE or AACO_ORT_LIBRARY; DNNL and XNNPACK: scripts/bootstrap.sh "
                      "--ort-providers; MIGraphX and ROCm: the onnxruntime-rocm build for your ROCm version), choose another "
                      "--backend, or allow the CPU with --allow-fallback");
  }

 private:
  std::shared_ptr<Api> api_;
};

std::vector<std::string> candidates(const LibrarySearch& search) {
  return {core::private_library(search.paths, "libonnxruntime.so.1"),
          core::join_path(search.paths.cache, "parts/onnxruntime/lib/libonnxruntime.so.1"), "libonnxruntime.so.1",
          "libonnxruntime.so"};
}

}  // namespace

core::Result<std::shared_ptr<Runtime>> Runtime::open(const LibrarySearch& search) {
  const std::string named = !search.named.empty() ? search.named : search.environment.get("AACO_ORT_LIBRARY").value_or("");
  if (!named.empty()) {
    auto api = open_api(named);
    if (!api) {
      core::Error error = std::move(api).error();
      error.remedy = "set --ort-lib or AACO_ORT_LIBRARY to a libonnxruntime.so of version 1.17 or newer";
      return tl::unexpected(std::move(error));
    }
    return std::make_shared<OpenedRuntime>(std::move(*api));
  }
  std::string tried;
  for (const std::string& path : candidates(search)) {
    if (path.find('/') != std::string::npos && !core::exists(path)) continue;
    auto api = open_api(path);
    if (api) return std::make_shared<OpenedRuntime>(std::move(*api));
    tried += "\n  " + api.error().message;
  }
  return core::fail(ErrorCode::unsupported, "ONNX Runtime library not found" + tried,
                    "run scripts/bootstrap.sh, or set --ort-lib FILE or AACO_ORT_LIBRARY");
}

}  // namespace aaco::runner::ort
