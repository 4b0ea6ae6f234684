#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "runner/backend.h"

namespace aaco::runner::ort {

// Search order for the ONNX Runtime library: `named` (--ort-lib), AACO_ORT_LIBRARY, next to the program, the
// parts cache, the system's library path. A named library that cannot be opened is an error; no other library is
// tried.
struct LibrarySearch {
  std::string named;
  core::Environment environment;
  core::Paths paths;
};

// A loaded ONNX Runtime, 1.17 or newer. One per process; backends created from it keep it alive.
class Runtime {
 public:
  static core::Result<std::shared_ptr<Runtime>> open(const LibrarySearch& search);
  virtual ~Runtime() = default;

  [[nodiscard]] virtual const std::string& version() const = 0;
  [[nodiscard]] virtual const std::string& library_path() const = 0;
  // "CPUExecutionProvider", ... as compiled into the library.
  [[nodiscard]] virtual const std::vector<std::string>& available_providers() const = 0;

  // Succeeds if the library has the requested provider or fallback is allowed; otherwise unsupported with a remedy.
  [[nodiscard]] virtual core::Status check_provider(const BackendOptions& options) const = 0;
  // Loads a model. Fails with unsupported if the requested provider is missing or runs no node (unless allow_fallback), with
  // invalid_input if the model is damaged or has an operator the runtime lacks.
  virtual core::Result<std::unique_ptr<Backend>> open_model(const std::string& model_path, const BackendOptions& options) = 0;
};

}  // namespace aaco::runner::ort
