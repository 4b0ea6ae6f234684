#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/context.h"
#include "workflows/llm_ceiling.h"

namespace aaco::cli {

void add_llm_server(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("llm-server", "Built-in server of 'aaco llm --self-test'");
  verb->group("");  // not for people
  auto cpu = std::make_shared<std::optional<int>>();
  verb->add_option("--cpu", *cpu, "CPU to run on");
  verb->callback([&context, cpu] {
    if (const auto served = workflows::serve_tokens(*cpu, STDIN_FILENO, STDOUT_FILENO); !served) context.fail(served.error());
  });
}

}  // namespace aaco::cli
