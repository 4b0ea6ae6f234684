#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "cli/context.h"
#include "workflows/benchmark.h"

namespace aaco::cli {

void add_gpu_worker(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("gpu-worker", "Worker process of 'aaco benchmark' and 'aaco hardware probe'");
  verb->group("");  // not for people
  auto backend = std::make_shared<std::string>();
  auto gpu = std::make_shared<int>(0);
  verb->add_option("--backend", *backend, "cuda or hip")->required();
  verb->add_option("--gpu", *gpu, "Number of the GPU");
  auto patience = std::make_shared<double>(20);
  verb->add_option("--patience", *patience, "Seconds that work of one request may take")->check(CLI::Range(0.001, 3600.0));
  verb->callback([&context, backend, gpu, patience] {
    std::signal(SIGINT, SIG_IGN);  // of the terminal: the asking process ends this one after its case
    if (const auto served = workflows::serve_gpu_worker(*backend, *gpu, *patience); !served) context.fail(served.error());
  });
}

}  // namespace aaco::cli
