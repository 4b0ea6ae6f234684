#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/json.h"
#include "core/result.h"
#include "laboratory/power_meter.h"
#include "laboratory/suites.h"
#include "runner/ort_runtime.h"

// Benchmarks of a device: single operators and whole models, run by ONNX Runtime through the runner, or operators by PyTorch or
// by a GPU's own runtime; raw results are kept in a journal from which the tables of the benchmark registry are written
// (docs/formats/benchmarks.md).
namespace aaco::laboratory {

// The result of one visit to a case.
struct BenchmarkVisit {
  BenchmarkCase one;
  std::int64_t round = 0;
  std::string error;  // why the other members are empty
  std::int64_t calls = 0;
  double median_ns = 0;  // per call
  double lowest_ns = 0, p90_ns = 0;
  std::optional<double> interval_ratio;  // width of the median's 95 % CI over the median
  std::optional<double> operator_ratio;  // operator's share of the call's node time (from the runtime's profile)
  // For workloads: resident memory before loading, after loading, and the peak afterwards.
  std::optional<std::int64_t> resident_before_bytes, resident_loaded_bytes, resident_peak_bytes;
  std::optional<double> flops, bytes;  // of a workload, by the operator catalogue
  // Of an operator, called repeatedly after its time was measured; clocks of GPUs only.
  std::optional<double> power_watts, clock_hz, memory_clock_hz;
};

// Locks a device's folder for the lifetime of the result: concurrent runs of any backend would disturb each other, and
// runs of one backend share a journal. `conflict` if another run holds the lock.
core::Result<core::FileDescriptor> hold_benchmarks(const std::string& folder);

// A run's results, one line of JSON each, flushed immediately: an interrupted run resumes where it stopped.
class BenchmarkJournal {
 public:
  // Opens the newest unfinished journal of this folder with the same key, else starts one. `fresh`: always starts one.
  static core::Result<BenchmarkJournal> open(const std::string& folder, const core::Json& provenance, const std::string& key,
                                             bool fresh);
  // Reads a journal; ignores a truncated last line. `not_found` if even the first line is incomplete.
  static core::Result<BenchmarkJournal> read(const std::string& path);

  core::Status add(const BenchmarkVisit& visit);
  core::Status finish();

  [[nodiscard]] bool resumed() const { return resumed_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string run_id() const;
  [[nodiscard]] const core::Json& provenance() const { return provenance_; }
  [[nodiscard]] const std::vector<BenchmarkVisit>& visits() const { return visits_; }
  [[nodiscard]] bool has(const std::string& case_id, std::int64_t round) const;

 private:
  core::Status append(const core::Json& line) const;
  void remember(BenchmarkVisit visit);
  std::string path_, key_;
  core::Json provenance_;
  std::vector<BenchmarkVisit> visits_;
  std::set<std::pair<std::string, std::int64_t>> done_;
  bool resumed_ = false, finished_ = false;
};

// Measures one case and fills in its visit. `cancelled`: stopped by the user; any other failure concerns the case only.
using BenchmarkVisitor = std::function<core::Status(const BenchmarkSuite& suite, BenchmarkVisit& visit)>;

struct OrtBenchmarkOptions {
  runner::BackendOptions backend;
  std::uint64_t seed = 1;  // of weights and of inputs
  std::string scratch;     // a folder for the models of single operators
  const std::atomic<bool>* stop = nullptr;
  PowerMeter* power = nullptr;  // used in the first round; null: power is not measured
  // The path of a workload's file, generated if needed.
  std::function<core::Result<std::string>(const std::string& model)> model_file;
};
// Measures operators as single-operator models, and whole models. `runtime` must outlive the visitor.
BenchmarkVisitor on_onnx_runtime(runner::ort::Runtime& runtime, OrtBenchmarkOptions options);

struct PyTorchOptions {
  std::string python;  // a Python with torch: a path, or a name on PATH
  std::string share;   // the folder of data/benchmarks/pytorch_operators.py
  bool gpu = false;    // the first GPU visible to PyTorch (ROCm or CUDA); false: the CPU
  int threads = 0;     // for operators on the CPU; 0: PyTorch's default
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
  PowerMeter* power = nullptr;  // as in OrtBenchmarkOptions
};
struct PyTorchProcess {
  std::string version, device_name;
  int threads = 0;
  BenchmarkVisitor visitor;  // of single operators; an exited process is restarted for the next visit
};
// Unsupported, with a remedy, if Python has no PyTorch or PyTorch no such device.
core::Result<PyTorchProcess> on_pytorch(const PyTorchOptions& options);

// A GPU without a framework, measured by a worker process (laboratory/gpu.h).
enum class GpuRuntime { cuda, hip };
std::string_view to_string(GpuRuntime runtime);

// What the runtime tells of a device; what it does not tell is empty.
struct GpuFacts {
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string target;  // "sm_90"; empty on HIP
  std::string pci_address;
  std::int64_t devices = 1;  // visible to the process
  std::optional<std::int64_t> memory_bytes, units, lanes, clock_hz, cache_bytes, memory_clock_hz, bus_bits;
};

struct GpuLibrary {
  std::string name;    // "cuBLASLt"
  std::string absent;  // why it is not used; empty: it is
  std::string remedy;
};

struct GpuOptions {
  GpuRuntime runtime = GpuRuntime::cuda;
  int device = 0;
  std::vector<std::string> worker;  // the command of the worker process, without the options it gets from these
  const std::atomic<bool>* stop = nullptr;
  PowerMeter* power = nullptr;  // as in OrtBenchmarkOptions
};
struct GpuProcess {
  std::string version;  // "cuda driver 12.4"
  GpuFacts facts;
  std::vector<GpuLibrary> libraries;
  BenchmarkVisitor visitor;  // of single operators and transfers; an exited process is restarted for the next visit
};
// Unsupported, with a remedy, where the runtime or a device is missing.
core::Result<GpuProcess> on_gpu(const GpuOptions& options);

struct BenchmarkOptions {
  std::uint64_t seed = 1;  // of the order
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::int64_t done, std::int64_t total, const std::string& what)> progress;
};

// Runs the visits missing from the journal, round by round, each in shuffled order, so that drift of the machine affects
// all cases. A failing case is recorded with its reason and skipped.
core::Status run_suite(const BenchmarkSuite& suite, const BenchmarkVisitor& visitor, const BenchmarkOptions& options,
                       BenchmarkJournal& journal);

// Spread between the rounds of a case, the slowest visit over the fastest minus 1: small on a quiet machine.
struct RoundSpread {
  std::int64_t cases = 0;  // with two or more visits
  double median_ratio = 0, p90_ratio = 0;
};
// Empty if no case has two.
std::optional<RoundSpread> spread_of(const BenchmarkJournal& journal);

struct BenchmarkTable {
  std::string path;
  std::int64_t rows = 0;
};
// Rewrites the tables of a device's folder from all its journals: one CSV per kernel and data type. Journals without a
// complete first line (full disk) are empty and skipped.
core::Result<std::vector<BenchmarkTable>> write_tables(const std::string& folder, const std::string& device);

}  // namespace aaco::laboratory
