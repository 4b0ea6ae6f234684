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

// configs/models.yaml and configs/backends.yaml: the names a user may say, and what stands behind them. The files that came with
// the program are read first, then the user's own of the same name (Paths::config); what the user writes wins, key by key.
namespace aaco::runner {

struct ModelConfig {
  std::string name;
  std::string path;  // "zoo:NAME[,parameter=value...]", or the absolute path of an .onnx file
  std::map<std::string, std::vector<std::int64_t>> input_shapes;  // a name may end in '*'
  std::optional<ElementType> dtype;                               // of the floating-point tensors
  std::optional<std::int64_t> warmup;                             // iterations; empty: until the series is stationary
  std::optional<std::int64_t> iterations;                         // empty: by the stopping rule
  std::string where;                                              // "FILE:LINE" of the entry, empty for a file named directly

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
  std::map<std::string, std::string> options;  // every other key, handed to the provider as it stands
  std::string where;
};

class Registry {
 public:
  // Reads both files from `paths`. A file of the program that is missing is an error, one of the user's is not.
  static core::Result<Registry> load(const core::Paths& paths);

  [[nodiscard]] const std::map<std::string, ModelConfig>& models() const { return models_; }
  [[nodiscard]] const std::map<std::string, BackendConfig>& backends() const { return backends_; }

  // A name of models.yaml, "zoo:NAME", a name of the zoo that models.yaml does not have, or a file. The error names what is near.
  [[nodiscard]] core::Result<ModelConfig> model(std::string_view name_or_file) const;
  [[nodiscard]] core::Result<BackendConfig> backend(std::string_view name) const;

 private:
  std::map<std::string, ModelConfig> models_;
  std::map<std::string, BackendConfig> backends_;
};

// That most of the graph's floating-point constants are of the type the entry declares; a wrong declaration would stand in
// reports.
core::Status check_dtype(const ModelConfig& config, const graph::Graph& graph);

// What the backend is opened with. device_id and fp16_enable become the options the provider knows them by; unsupported where it
// has none for a value that is not its default.
core::Result<BackendOptions> backend_options(const BackendConfig& config);

}  // namespace aaco::runner
