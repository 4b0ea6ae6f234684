#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "runner/backend.h"

namespace aaco::runner::ort {

// Where the ONNX Runtime library is looked for, in this order: `named` (--ort-lib), AACO_ORT_LIBRARY, beside the program, the
// parts cache, the system's library path. A library that was named and cannot be opened is an error, not a reason to take
// another.
struct LibrarySearch {
  std::string named;
  core::Environment environment;
  core::Paths paths;
};

// An opened ONNX Runtime, 1.17 or newer. One a process; backends made from it keep it alive.
class Runtime {
 public:
  static core::Result<std::shared_ptr<Runtime>> open(const LibrarySearch& search);
  virtual ~Runtime() = default;

  [[nodiscard]] virtual const std::string& version() const = 0;
  [[nodiscard]] virtual const std::string& library_path() const = 0;
  // "CPUExecutionProvider", ... as compiled into the library.
  [[nodiscard]] virtual const std::vector<std::string>& available_providers() const = 0;

  // Whether the library has the provider asked for, or may go on without: unsupported with the way out.
  [[nodiscard]] virtual core::Status check_provider(const BackendOptions& options) const = 0;
  // Loads a model. Fails with unsupported where the provider asked for is absent or took no node (unless allow_fallback), with
  // invalid_input where the model is damaged or has an operator the runtime lacks.
  virtual core::Result<std::unique_ptr<Backend>> open_model(const std::string& model_path, const BackendOptions& options) = 0;
};

}  // namespace aaco::runner::ort
