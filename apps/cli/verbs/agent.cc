#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <memory>

#include "agent/options.h"
#include "cli/context.h"
#include "core/files.h"

namespace aaco::cli {

// The agent is a program of its own, which stays small: this one becomes it.
void add_agent(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("agent", agent::kAboutAgent);
  auto options = std::make_shared<agent::Options>();
  agent::add_options(*verb, *options);
  verb->callback([&context, options] {
    const auto request = agent::resolve(*options, context.environment);
    if (!request) return context.fail(request.error());
    const std::string program = core::join_path(core::parent_path(core::executable_path()), "aaco-agent");
    const auto& line = context.command_line;
    std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
    for (auto one = std::next(std::find(line.begin(), line.end(), "agent")); one != line.end(); ++one)
      arguments.push_back(const_cast<char*>(one->c_str()));
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    const auto failed = core::fail_errno(errno, program, "install the package aaco-agent, or build the target of this name");
    context.fail(failed.value());
  });
}

}  // namespace aaco::cli
