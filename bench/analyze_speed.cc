// How long a prediction takes once the model is open: ResNet-50, and the 32 layers of a 7B decoder without its weights.
//
//   analyze_speed [rounds]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/clock.h"
#include "core/environment.h"
#include "hardware/registry.h"
#include "workflows/model_source.h"
#include "workflows/predict.h"

namespace {

using namespace aaco;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Case {
  const char* model;
  graph::Bindings sizes;
  double most_ms;
};

core::Status measure(const Case& one, const hardware::Device& device, int rounds, const workflows::Services& services) {
  workflows::ModelRequest request;
  request.name = one.model;
  request.dimensions = one.sizes;
  std::vector<double> opening, predicting;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t start = core::monotonic_ns();
    AACO_ASSIGN(const auto model, workflows::open_model(request, services));
    const std::int64_t open = core::monotonic_ns();
    AACO_ASSIGN(const auto report, workflows::predict(model, one.model, device, {}, services.paths));
    if (report.estimate.nodes.empty()) return core::fail(core::ErrorCode::invalid_input, "no node estimates");
    opening.push_back(static_cast<double>(open - start) * 1e-6);
    predicting.push_back(static_cast<double>(core::monotonic_ns() - open) * 1e-6);
  }
  const double ms = median(predicting);
  fmt::print("{:12} load and shape inference {:7.2f} ms, prediction {:7.2f} ms (min {:.2f}); within {:g} ms: {}\n", one.model,
             median(opening), ms, *std::min_element(predicting.begin(), predicting.end()), one.most_ms,
             ms <= one.most_ms ? "yes" : "no");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 30;
  workflows::Services services;
  services.environment = core::Environment::of_process();
  services.paths = core::Paths::find(services.environment, core::executable_path());
  const auto device = hardware::DeviceRegistry::load_one(services.paths, "MI300X");
  if (!device) return fmt::print(stderr, "{}\n", device.error().text()), 1;
  for (const Case& one :
       {Case{"resnet50", {}, 10}, Case{"llama2-7b", {{"sequence_length", 512}, {"past_sequence_length", 0}}, 50}})
    if (const auto status = measure(one, *device, rounds, services); !status)
      return fmt::print(stderr, "{}\n", status.error().text()), 1;
  return 0;
}
