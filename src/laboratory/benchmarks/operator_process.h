#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/worker_process.h"
#include "laboratory/benchmarks.h"

namespace aaco::laboratory::benchmarks {

// A process that runs single operators and speaks the lines that data/benchmarks/pytorch_operators.py describes. One that ended
// is restarted for the next visit.
class OperatorProcess {
 public:
  struct Options {
    std::vector<std::string> command;
    std::string what;                          // in messages: "PyTorch cannot measure a GPU with 'python3'"
    std::string remedy;                        // where the process itself names none
    std::int64_t answer_ns = 600'000'000'000;  // a process that says nothing for so long is killed
    const std::atomic<bool>* stop = nullptr;
    PowerMeter* power = nullptr;
  };
  explicit OperatorProcess(Options options) : options_(std::move(options)) {}

  // What it says of itself. Unsupported where it cannot measure.
  core::Result<core::Json> start();
  core::Status visit(const BenchmarkSuite& suite, BenchmarkVisit& visit);

 private:
  [[nodiscard]] tl::unexpected<core::Error> unsupported(std::string_view why, std::string_view remedy) const;
  core::Result<core::Json> ask(const core::Json& request);
  core::Result<std::vector<double>> times(std::int64_t count, double& call_ns);
  core::Status measure(const BenchmarkSuite& suite, BenchmarkVisit& visit);

  Options options_;
  std::int64_t group_ = 1;  // of the operator that is made now
  std::unique_ptr<core::WorkerProcess> worker_;
};

}  // namespace aaco::laboratory::benchmarks
