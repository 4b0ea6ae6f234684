#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "workflows/injected_delay.h"
#include "workflows/isolation_request.h"

namespace aaco::workflows {

// What `aaco run` is asked; empty means "as configs/models.yaml and configs/backends.yaml say".
struct RunRequest {
  std::string model;  // a name of models.yaml, or a file
  std::string backend = "cpu";
  std::optional<std::int64_t> batch;
  std::map<std::string, std::int64_t> dimensions;           // symbol -> size
  std::map<std::string, std::vector<std::int64_t>> shapes;  // input -> shape
  std::map<std::string, std::string> inputs;                // input -> file (.npy, .npz, .pb)
  std::map<std::string, std::string> provider_options;      // on top of backends.yaml
  std::map<std::string, std::string> session_options;       // of the runtime (runner/ort/session_settings.h)
  std::optional<std::int64_t> warmup;
  std::optional<std::int64_t> iterations;
  std::optional<core::Nanoseconds> duration;
  std::optional<double> precision_ratio;  // width (high - low) of the median's 95 % interval over the median
  std::optional<int> threads;
  std::string graph_level = "all";
  std::uint64_t seed = 1;
  std::string tag;
  std::string ort_library;
  bool allow_fallback = false;
  bool telemetry = false;
  core::Nanoseconds telemetry_period{10'000'000};
  bool ebpf = false;            // what the operating system did, in the same blocks as telemetry
  bool profile = false;         // nodes, and the GPU's kernels on a ROCm backend, in passes of their own
  std::string profile_domains;  // of the GPU's pass ("kernel,hip"); empty: the usual. Given, the pass is made on any backend
  std::string counters;         // hardware counters of the GPU ("SQ_WAVES,GRBM_COUNT"); as above
  std::vector<std::string> rewrites;  // passes of graph/rewrite.h or "offline"; resolved by 'aaco optimize', refused elsewhere
  // A rewritten copy that is opened in place of the model's own file: the same inputs and outputs, and the model's settings.
  std::string run_file;
  std::string optimized_file;  // where the runtime writes its optimized graph; empty: nowhere
  std::string dtype;           // of a model of the zoo; empty: as its entry says
  IsolationRequest isolation;
  bool drop_disturbed = false;  // the numbers leave out the iterations that were disturbed from outside
  InjectedDelay delay;          // added to each measured call, to try what a comparison detects
  core::Json fault;             // what the fault laboratory does to this run; null: nothing
  // The laboratory's hands: what runs at the beginning of every call, and what is made of the model's file before it is opened.
  std::function<void()> before_call;
  std::function<core::Result<std::string>(const std::string& model_path)> edit_model;
};

}  // namespace aaco::workflows
