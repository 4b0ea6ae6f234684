#include "workflows/doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "workflows/ort_build.h"

namespace aaco::cli {
namespace {

void print_lines(const Context& context, const std::vector<workflows::DoctorLine>& lines) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.feature.size());
  for (const auto& line : lines) {
    const std::string mark = line.works ? "ok     " : "missing";
    const std::string coloured = context.colour ? fmt::format("\x1b[{}m{}\x1b[0m", line.works ? "32" : "33", mark) : mark;
    context.print(fmt::format("{}  {:<{}}  {}\n", coloured, line.feature, width, line.reason));
    if (!line.works && !line.remedy.empty()) context.print(fmt::format("{:7}  {:<{}}  hint: {}\n", "", "", width, line.remedy));
  }
}

core::Json lines_json(const std::vector<workflows::DoctorLine>& lines) {
  core::Json list = core::Json::array();
  for (const auto& line : lines)
    list.push(
        core::Json::object({{"feature", line.feature}, {"works", line.works}, {"reason", line.reason}, {"remedy", line.remedy}}));
  return core::Json::object({{"schema_version", 1}, {"features", std::move(list)}});
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("doctor", "Check which features work on this machine, and how to enable the others");
  auto json = std::make_shared<bool>(false);
  auto library = std::make_shared<std::string>();
  verb->add_flag("--json", *json, "Print JSON");
  verb->add_option("--ort-lib", *library, "ONNX Runtime library to check");
  verb->callback([&context, json, library] {
    const auto services = make_services(context);
    const std::string build = workflows::library_of_build(*library, services.paths);
    if (!build.empty()) *library = build;
    if (const auto entered = workflows::enter_build(*library, services.command_line); !entered)
      return context.fail(entered.error());
    const auto lines = workflows::diagnose(services, *library);
    if (*json) return context.print_json(lines_json(lines));
    print_lines(context, lines);
  });
}

}  // namespace aaco::cli
