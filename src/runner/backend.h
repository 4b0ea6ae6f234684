#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/element_type.h"

namespace aaco::runner {

using graph::ElementType;
using graph::to_string;
// Bytes of one element; 0 for strings, for what is unknown, and for types below eight bits.
inline std::int64_t element_size(ElementType type) { return graph::element_bits(type) / 8; }

// An input or output as the model declares it: a dimension is a size, or a symbol (-1 with its name, maybe empty).
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::unknown;
  std::vector<std::int64_t> shape;
  std::vector<std::string> symbols;  // one per dimension, empty for a fixed size
};

// A tensor's bytes, dense, row-major, host order.
struct TensorData {
  std::string name;
  ElementType type = ElementType::unknown;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

// An output of the last call where it is; `bytes` is null where that is not host memory.
struct TensorView {
  ElementType type = ElementType::unknown;
  std::vector<std::int64_t> shape;
  const std::byte* bytes = nullptr;
};

// A value that a model hands from call to call: what one call puts out is an input of the next. In place: one tensor is input and
// output at once.
struct CarriedValue {
  std::string input, output;
  bool in_place = false;
};

// Session option ("on"): the model is opened with the sizes of its symbols that were given fixed, as free_dimensions.
inline constexpr std::string_view kFixedDimensions = "fixed_dimensions";

struct BackendOptions {
  std::string backend = "cpu";  // name in configs/backends.yaml
  std::string provider;         // e.g. CPUExecutionProvider
  std::map<std::string, std::string> provider_options;
  std::map<std::string, std::string> session_options;  // runner/ort/session_settings.h
  int intra_op_threads = 0;                            // 0: the runtime decides
  int pool_threads = 0;        // instead of the runtime's choice where the process may not use the whole machine; 0: it may
  std::vector<int> pool_cpus;  // one CPU for each of them, the caller's first; empty: not pinned
  int inter_op_threads = 0;
  std::string graph_level = "all";  // disabled, basic, extended, all
  bool allow_fallback = false;      // nodes may run on another provider than the requested one
  bool profile = false;             // enable the runtime's profiler
  std::string profile_prefix;
  std::string optimized_model_path;                     // where to write the optimised graph; empty: do not write it
  std::map<std::string, std::int64_t> free_dimensions;  // symbol -> size
};

// A loaded model, ready to run. The loop around it takes the times; a backend never times itself.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const std::vector<TensorInfo>& inputs() const = 0;
  [[nodiscard]] virtual const std::vector<TensorInfo>& outputs() const = 0;
  // Binds all inputs once and lets the runtime allocate and keep the outputs, in device memory if available.
  virtual core::Status bind(const std::vector<TensorData>& inputs) = 0;
  // Binds the next call of a model with a state: `inputs` are new, a carried value is the output of the last call (no copy)
  // unless it is among `inputs`. The runtime allocates all outputs that are not in place.
  virtual core::Status bind_next(std::vector<TensorData> inputs, const std::vector<CarriedValue>& carried) = 0;
  // Valid until the next call is bound.
  virtual core::Result<TensorView> view_output(std::string_view name) = 0;
  // Runs the model once with the bound tensors. Allocates nothing itself.
  virtual core::Status run_once() = 0;
  // The outputs of the last call, copied to the host.
  virtual core::Result<std::vector<TensorData>> read_outputs() = 0;
  // The effective configuration: runtime version, provider, nodes per provider, options; stored in runtime/ort_config.json.
  [[nodiscard]] virtual core::Json describe() const = 0;
  // Stops the runtime's profiler; returns the file's path and the profile's start on the realtime clock.
  struct Profile {
    std::string path;
    std::int64_t start_realtime_ns = 0;
  };
  virtual core::Result<Profile> end_profile() = 0;
};

}  // namespace aaco::runner
