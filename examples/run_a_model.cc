// Runs a model of the zoo as `aaco run` does, and reads its numbers: the values a classifier or a gate would start from.
//   run_a_model [SESSIONS_FOLDER]      AACO_SHARE names the installation's share/aaco
#include <cstdio>

#include "core/environment.h"
#include "core/files.h"
#include "trace/metric.h"
#include "workflows/run.h"

int main(int argc, char** argv) {
  using namespace aaco;
  workflows::Services services;
  services.environment = core::Environment::of_process();
  services.paths = core::Paths::find(services.environment, core::executable_path());
  if (argc > 1) services.paths.sessions = core::absolute_path(argv[1]);
  services.progress = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  services.tool_version = "example";
  services.command_line.assign(argv, argv + argc);

  workflows::RunRequest request;
  request.model = "mlp";
  request.iterations = 400;
  const auto outcome = workflows::run(request, services);
  if (!outcome) {
    std::fprintf(stderr, "%s\n", outcome.error().text().c_str());
    return outcome.error().code == core::ErrorCode::unsupported ? 77 : 3;  // 77: no ONNX Runtime here
  }
  const trace::MetricValue* median = trace::find_metric(outcome->metrics, "latency.p50_ns");
  if (median == nullptr) return 3;
  std::printf("%s\nmedian %.0f ns", outcome->path.c_str(), median->value);
  if (median->ci95) std::printf(" (95 %% interval %.0f to %.0f)", median->ci95->low, median->ci95->high);
  std::printf("\n");
  return 0;
}
