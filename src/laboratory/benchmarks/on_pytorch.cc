#include <fmt/format.h>

#include <memory>

#include "core/files.h"
#include "laboratory/benchmarks.h"
#include "laboratory/benchmarks/operator_process.h"

namespace aaco::laboratory {

core::Result<PyTorchProcess> on_pytorch(const PyTorchOptions& options) {
  benchmarks::OperatorProcess::Options own;
  own.command = {options.python, core::join_path(options.share, "data/benchmarks/pytorch_operators.py"),
                 "--device",     options.gpu ? "gpu" : "cpu",
                 "--threads",    std::to_string(options.threads),
                 "--seed",       std::to_string(options.seed)};
  own.what = fmt::format("PyTorch cannot measure {} with '{}'", options.gpu ? "a GPU" : "operators", options.python);
  own.remedy = "set --python or AACO_PYTHON to a Python with PyTorch for this device";
  own.stop = options.stop;
  own.power = options.power;
  auto process = std::make_shared<benchmarks::OperatorProcess>(std::move(own));
  AACO_ASSIGN(const core::Json hello, process->start());
  PyTorchProcess result;
  result.version = hello["version"].text();
  result.device_name = hello["name"].text();
  result.threads = static_cast<int>(hello["threads"].as_i64().value_or(0));
  result.visitor = [process](const BenchmarkSuite& suite, BenchmarkVisit& visit) { return process->visit(suite, visit); };
  return result;
}

}  // namespace aaco::laboratory
