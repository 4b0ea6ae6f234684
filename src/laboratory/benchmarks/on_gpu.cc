#include <fmt/format.h>

#include <memory>

#include "laboratory/benchmarks.h"
#include "laboratory/benchmarks/operator_process.h"

namespace aaco::laboratory {
namespace {

// Above the worker's own patience for a device's work, which ends first where the driver still answers.
constexpr std::int64_t kAnswerNs = 120'000'000'000;

GpuFacts facts_of(const core::Json& json) {
  GpuFacts facts;
  facts.name = json["name"].text();
  facts.target = json["target"].text();
  facts.pci_address = json["pci_address"].text();
  facts.devices = json["devices"].as_i64().value_or(1);
  facts.memory_bytes = json["memory_bytes"].as_i64();
  facts.units = json["units"].as_i64();
  facts.lanes = json["lanes"].as_i64();
  facts.clock_hz = json["clock_hz"].as_i64();
  facts.cache_bytes = json["cache_bytes"].as_i64();
  facts.memory_clock_hz = json["memory_clock_hz"].as_i64();
  facts.bus_bits = json["bus_bits"].as_i64();
  return facts;
}

}  // namespace

std::string_view to_string(GpuRuntime runtime) { return runtime == GpuRuntime::cuda ? "cuda" : "hip"; }

core::Result<GpuProcess> on_gpu(const GpuOptions& options) {
  benchmarks::OperatorProcess::Options own;
  own.command = options.worker;
  for (const std::string& word :
       {std::string("--backend"), std::string(to_string(options.runtime)), std::string("--gpu"), std::to_string(options.device)})
    own.command.push_back(word);
  own.what = fmt::format("cannot measure a GPU through {}", options.runtime == GpuRuntime::cuda ? "CUDA" : "HIP");
  own.remedy = "'aaco doctor' shows what is missing";
  own.answer_ns = kAnswerNs;
  own.stop = options.stop;
  own.power = options.power;
  auto process = std::make_shared<benchmarks::OperatorProcess>(std::move(own));
  AACO_ASSIGN(const core::Json hello, process->start());
  GpuProcess result;
  result.version = hello["version"].text();
  result.facts = facts_of(hello["gpu"]);
  for (const core::Json& one : hello["libraries"].items())
    result.libraries.push_back(
        {std::string(one["name"].text()), std::string(one["absent"].text()), std::string(one["remedy"].text())});
  result.visitor = [process](const BenchmarkSuite& suite, BenchmarkVisit& visit) { return process->visit(suite, visit); };
  return result;
}

}  // namespace aaco::laboratory
