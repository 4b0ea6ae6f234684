// How long a model takes from its file to its work: read, shapes, cost, memory. Prints the median and the spread of many rounds,
// models alternating.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/files.h"
#include "estimation/memory.h"
#include "graph/cost.h"
#include "graph/load.h"
#include "runner/zoo.h"

namespace {

using namespace aaco;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

struct Subject {
  const char* name;
  graph::Bindings sizes;
  double least_flops;  // the bench checks its own results
  std::string path = {};
  std::vector<double> load = {}, shapes = {}, cost = {}, memory = {};
};

std::string summary(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]; };
  return fmt::format("{:7.2f} ms ({:.2f} to {:.2f})", at(0.5), at(0.05), at(0.95));
}

bool round_of(Subject& subject) {
  auto start = Clock::now();
  auto graph = graph::load(subject.path);
  subject.load.push_back(ms_since(start));
  if (!graph) return false;
  start = Clock::now();
  auto model = graph::prepare(std::move(*graph), subject.sizes);
  subject.shapes.push_back(ms_since(start));
  if (!model) return false;
  start = Clock::now();
  const graph::GraphCost cost = cost_of(model->graph);
  subject.cost.push_back(ms_since(start));
  start = Clock::now();
  const auto memory = estimation::estimate_memory(model->graph);
  subject.memory.push_back(ms_since(start));
  return cost.flops > subject.least_flops && memory.peak_bytes > memory.weight_bytes;
}

}  // namespace

int main() {
  constexpr int kRounds = 60;
  const auto folder = core::TemporaryDirectory::make("/tmp");
  if (!folder) return 1;
  std::vector<Subject> subjects = {
      {"resnet50", {}, 8e9}, {"llama2-7b", {{"sequence_length", 512}}, 6e12}, {"bert-base", {{"sequence_length", 128}}, 2e10}};
  for (Subject& subject : subjects) {
    subject.path = core::join_path(folder->path(), std::string(subject.name) + ".onnx");
    const auto request = runner::zoo::parse_request(subject.name);
    if (!request || !runner::zoo::write_structure(*request->entry, request->config, subject.path)) return 1;
  }
  for (int round = 0; round < kRounds; ++round)
    for (Subject& subject : subjects)
      if (!round_of(subject)) {
        fmt::print(stderr, "{}: wrong result\n", subject.name);
        return 1;
      }
  for (const Subject& subject : subjects)
    fmt::print("{:<10} load {}  shapes {}  cost {}  memory {}\n", subject.name, summary(subject.load), summary(subject.shapes),
               summary(subject.cost), summary(subject.memory));
  return 0;
}
