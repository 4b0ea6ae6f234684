#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/handles.h"
#include "core/json.h"
#include "core/result.h"
#include "laboratory/power_meter.h"
#include "laboratory/suites.h"
#include "runner/ort_runtime.h"

// Benchmarks of a device: single operators and whole models, run by ONNX Runtime through the runner, or operators by PyTorch;
// their raw results kept in a journal from which the tables of the benchmark registry are written (docs/formats/benchmarks.md).
namespace aaco::laboratory {

// What one visit to a case saw.
struct BenchmarkVisit {
  BenchmarkCase one;
  std::int64_t round = 0;
  std::string error;  // why there is nothing else
  std::int64_t calls = 0;
  double median_ns = 0;  // of a call
  double lowest_ns = 0, p90_ns = 0;
  std::optional<double> interval_ratio;  // width of the median's 95 % interval over it
  std::optional<double> operator_ratio;  // part of the call's node time that the operator itself took (the runtime's profile)
  // A workload's: resident before loading, when loaded, and the most from then on.
  std::optional<std::int64_t> resident_before_bytes, resident_loaded_bytes, resident_peak_bytes;
  std::optional<double> flops, bytes;  // a workload's, by the operator catalogue
  std::optional<double> power_watts;   // an operator's, called again and again after its time was measured
};

// A device's folder, held as long as the answer lives: two runs at a time, of whichever backends, would disturb each other, and
// of one backend write into one journal. `conflict` where another has it.
core::Result<core::FileDescriptor> hold_benchmarks(const std::string& folder);

// A run's results, one line of JSON each, flushed as they come: a run that was cut off goes on where it was.
class BenchmarkJournal {
 public:
  // Opens the newest journal of this folder that has the same key and no end, else begins one. `fresh`: begins one in any case.
  static core::Result<BenchmarkJournal> open(const std::string& folder, const core::Json& provenance, const std::string& key,
                                             bool fresh);
  // Reads a journal; a last line that was cut off is left out. `not_found` where not even its first line is whole.
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

// Measures one case and fills its visit in. `cancelled`: the user stopped; any other failure is the case's own.
using BenchmarkVisitor = std::function<core::Status(const BenchmarkSuite& suite, BenchmarkVisit& visit)>;

struct OrtBenchmarkOptions {
  runner::BackendOptions backend;
  std::uint64_t seed = 1;  // of weights and of inputs
  std::string scratch;     // a folder for the models of single operators
  const std::atomic<bool>* stop = nullptr;
  PowerMeter* power = nullptr;  // asked in the first round; null: power is not measured
  // Where a workload's file is: made now if need be.
  std::function<core::Result<std::string>(const std::string& model)> model_file;
};
// Each operator a model of its own, and whole models. `runtime` outlives the visitor.
BenchmarkVisitor on_onnx_runtime(runner::ort::Runtime& runtime, OrtBenchmarkOptions options);

struct PyTorchOptions {
  std::string python;  // a Python that has torch: a path, or a name looked up in PATH
  std::string share;   // where data/benchmarks/pytorch_operators.py is
  bool gpu = false;    // the first GPU that PyTorch sees, ROCm's or CUDA's; else the processor
  int threads = 0;     // of the processor's operators; 0: PyTorch's own choice
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
  PowerMeter* power = nullptr;  // as of OrtBenchmarkOptions
};
struct PyTorchProcess {
  std::string version, device_name;
  int threads = 0;
  BenchmarkVisitor visitor;  // of single operators; a process that ended is started anew for the next visit
};
// Unsupported, with the way out, where Python has no PyTorch or PyTorch no such device.
core::Result<PyTorchProcess> on_pytorch(const PyTorchOptions& options);

struct BenchmarkOptions {
  std::uint64_t seed = 1;  // of the order
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::int64_t done, std::int64_t total, const std::string& what)> progress;
};

// Visits what the journal does not have yet, round by round, each in a shuffled order, so that a drift of the machine falls on
// all cases. A case that fails is written down with its reason and passed over.
core::Status run_suite(const BenchmarkSuite& suite, const BenchmarkVisitor& visitor, const BenchmarkOptions& options,
                       BenchmarkJournal& journal);

// How far the rounds of a case are apart, the slowest visit over the fastest less 1: what a quiet machine makes small.
struct RoundSpread {
  std::int64_t cases = 0;  // that have two visits or more
  double median_ratio = 0, p90_ratio = 0;
};
// Empty where no case has two.
std::optional<RoundSpread> spread_of(const BenchmarkJournal& journal);

struct BenchmarkTable {
  std::string path;
  std::int64_t rows = 0;
};
// Writes the tables of a device's folder anew from all its journals: one CSV for each kernel and data type. Journals without a
// whole first line (a full disk) hold nothing and are passed over.
core::Result<std::vector<BenchmarkTable>> write_tables(const std::string& folder, const std::string& device);

}  // namespace aaco::laboratory
