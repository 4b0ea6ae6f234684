#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "runner/backend.h"

namespace aaco::graph {
struct Graph;
}

// configs/models.yaml and configs/backends.yaml: the names a user may use and their definitions. The shipped files
// are read first, then the user's files of the same name (Paths::config), which override them key by key.
namespace aaco::runner {

struct ModelConfig {
  std::string name;
  std::string path;  // "zoo:NAME[,parameter=value...]", or the absolute path of an .onnx file
  std::map<std::string, std::vector<std::int64_t>> input_shapes;  // a name may end in '*'
  std::optional<ElementType> dtype;                               // of the floating-point tensors
  std::optional<std::int64_t> warmup;                             // iterations; empty: until the series is stationary
  std::optional<std::int64_t> iterations;                         // empty: by the stopping rule
  std::string where;                                              // "FILE:LINE" of the entry, empty for a file named directly
  std::optional<core::Error> problem;                             // why the entry cannot be used

  [[nodiscard]] bool from_zoo() const { return path.starts_with(kZooPrefix); }
  // The text after "zoo:", with dtype in it where the entry has one.
  [[nodiscard]] std::string zoo_request() const;
  static constexpr std::string_view kZooPrefix = "zoo:";
};

struct BackendConfig {
  std::string name;
  std::string provider;  // "CPUExecutionProvider"
  std::optional<std::int64_t> device_id;
  std::optional<bool> fp16_enable;
  std::optional<std::int64_t> intra_op_threads;  // 0: the runtime's own choice
  std::optional<std::int64_t> inter_op_threads;
  std::string ort_build;                       // build of ONNX Runtime to use where it was fetched; empty: the default one
  std::map<std::string, std::string> options;  // every other key, passed to the provider verbatim
  std::string where;
  std::optional<core::Error> problem;  // why the entry cannot be used
};

class Registry {
 public:
  // Reads both files from `paths`. A missing shipped file is an error, a missing user file is not. An invalid entry is kept with
  // its problem, so that it blocks no other: asking for it fails.
  static core::Result<Registry> load(const core::Paths& paths);

  [[nodiscard]] const std::map<std::string, ModelConfig>& models() const { return models_; }
  [[nodiscard]] const std::map<std::string, BackendConfig>& backends() const { return backends_; }

  // A name of models.yaml, "zoo:NAME", a zoo name that models.yaml lacks, or a file. The error suggests near names.
  [[nodiscard]] core::Result<ModelConfig> model(std::string_view name_or_file) const;
  // A name of backends.yaml, or its provider's name ("MIGraphXExecutionProvider").
  [[nodiscard]] core::Result<BackendConfig> backend(std::string_view name) const;

 private:
  std::map<std::string, ModelConfig> models_;
  std::map<std::string, BackendConfig> backends_;
};

// Checks that most floating-point constants of the graph have the type the entry declares; a wrong declaration would appear in
// reports.
core::Status check_dtype(const ModelConfig& config, const graph::Graph& graph);

// The options to open the backend with. device_id and fp16_enable are mapped to the provider's options; unsupported if it
// has none and the value is not the default.
core::Result<BackendOptions> backend_options(const BackendConfig& config);

}  // namespace aaco::runner
