#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "workflows/store.h"

namespace aaco::cli {
namespace {

void verify(Context& context, const std::string& name, bool json) {
  const auto findings = workflows::verify(name, context.paths);
  if (!findings) return context.fail(findings.error());
  if (!findings->empty()) context.exit_code = kEnvironment;
  if (json) {
    core::Json list = core::Json::array();
    for (const auto& finding : *findings) list.push(core::Json::object({{"file", finding.file}, {"problem", finding.problem}}));
    return context.print_json(
        core::Json::object({{"schema_version", 1}, {"intact", findings->empty()}, {"findings", std::move(list)}}));
  }
  if (findings->empty()) return context.print("intact: all files match their recorded hashes\n");
  for (const auto& finding : *findings) context.print(fmt::format("{}: {}\n", finding.file, finding.problem));
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("verify", "Verify a session's files against their recorded hashes");
  auto name = std::make_shared<std::string>("latest");
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", *name, "Session")->capture_default_str();
  verb->add_flag("--json", *json, "Print JSON");
  verb->callback([&context, name, json] { verify(context, *name, *json); });
}

}  // namespace aaco::cli
