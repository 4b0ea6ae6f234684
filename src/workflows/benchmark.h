#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/benchmarks.h"
#include "workflows/services.h"

namespace aaco::workflows {

inline constexpr const char* kDefaultBackend = "cpu";

struct BenchmarkRequest {
  std::string suite = "all";      // micro, workloads, llm, all, or a file
  std::string hardware = "this";  // whose results these are
  // pytorch, pytorch-gpu; cuda, hip: the GPU without a framework; else of backends.yaml, as such or as ort-NAME.
  std::string backend = kDefaultBackend;
  int gpu = 0;                          // of cuda and hip, as the runtime numbers them
  std::vector<std::string> gpu_worker;  // the command that runs serve_gpu_worker()
  std::optional<int> threads;
  std::uint64_t seed = 1;
  std::string ort_library;
  std::string python;  // that has PyTorch; else AACO_PYTHON, else python3
  bool fresh = false;  // begin anew where an unfinished run could go on
  bool power = true;   // measured where a sensor can be read
  bool list = false;   // only say what would be measured
};

struct BenchmarkOutcome {
  std::string device;
  std::string folder;   // of the device's results in the benchmark registry
  std::string runtime;  // "onnxruntime 1.30.0", "pytorch 2.5.1"
  std::string run_id;
  std::string no_power;             // why power was not measured; empty: it was
  std::vector<std::string> absent;  // libraries of cuda and hip that are missing, each with its remedy
  std::optional<laboratory::RoundSpread> spread;
  std::vector<std::string> warnings;
  bool resumed = false;
  bool interrupted = false;
  std::int64_t cases = 0;
  std::int64_t visits = 0, failed = 0;      // of this run, in all its parts
  std::vector<std::string> failures;        // the first few, with their reasons
  std::vector<std::string> not_applicable;  // cases that this machine cannot have, with the reason: peers of the only GPU
  std::vector<laboratory::BenchmarkTable> tables;
};

// Of a device in the benchmark registry: the default backend's results, and in a folder in it those of each other, for two
// programs take their own times for one operator.
std::string benchmark_folder(const core::Paths& paths, const std::string& device, const std::string& backend);

// Measures the suites and writes the registry's tables. "this" is probed first where the hardware registry does not have it.
core::Result<BenchmarkOutcome> benchmark(const BenchmarkRequest& request, const Services& services);

// The worker process of the backends cuda and hip; see laboratory/gpu.h. Speaks on standard input and output.
core::Status serve_gpu_worker(const std::string& backend, int gpu, double patience_seconds);

// The cases of the suites.
core::Result<std::vector<laboratory::BenchmarkSuite>> list_benchmarks(const BenchmarkRequest& request, const Services& services);

core::Json to_json(const BenchmarkOutcome& outcome);

}  // namespace aaco::workflows
