#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "core/numbers.h"
#include "workflows/isolation.h"
#include "workflows/stability.h"

namespace aaco::cli {
namespace {

using core::Json;

struct CapsuleOptions {
  workflows::IsolationRequest isolation;
  std::vector<std::string> command;
};

void note_isolation(const Context& context, const Json& isolation) {
  for (const Json& one : isolation["set"].items()) {
    const std::string_view detail = one["detail"].text();
    context.note(fmt::format("capsule: {}={}{}", one["switch"].text(), one["value"].text(),
                             detail.empty() ? "" : fmt::format(" ({})", detail)));
  }
  for (const Json& one : isolation["not_set"].items()) {
    const std::string_view remedy = one["remedy"].text();
    context.note(fmt::format("capsule: not set: {}={}: {}{}", one["switch"].text(), one["value"].text(), one["reason"].text(),
                             remedy.empty() ? "" : fmt::format("; hint: {}", remedy)));
  }
}

void isolate_command(Context& context, CapsuleOptions& options) {
  if (options.command.empty())
    return context.fail({core::ErrorCode::invalid_argument,
                         "missing command after '--'",
                         "for example: aaco capsule --level standard -- ./benchmark; or use a subcommand: check, ls, restore",
                         {}});
  if (!options.isolation.wanted()) options.isolation.level = "standard";
  const auto outcome = workflows::run_isolated(
      options.isolation, options.command, [&](const Json& isolation) { note_isolation(context, isolation); },
      make_services(context));
  if (!outcome) {
    context.fail(outcome.error());
    context.exit_code = outcome.error().code == core::ErrorCode::invalid_argument ? kUsage : kRecordFailed;
    return;
  }
  context.exit_code = outcome->exit_code;
}

void list_levels(Context& context, bool json) {
  const auto services = make_services(context);
  const auto book = workflows::load_levels(services);
  if (!book) return context.fail(book.error());
  const auto open = workflows::open_changes(services);
  if (!open) return context.fail(open.error());
  Json levels = Json::array(), switches = Json::array(), changes = Json::array();
  for (const auto& level : book->levels()) {
    Json settings = Json::object();
    std::string text;
    for (const auto& [id, value] : level.settings) {
      settings.set(id, value);
      text += (text.empty() ? "" : " ") + id + "=" + value;
    }
    levels.push(Json::object({{"level", level.id}, {"title", level.title}, {"set", std::move(settings)}}));
    if (!json) context.print(fmt::format("{:<10} {}\n{:<10} {}\n", level.id, level.title, "", text));
  }
  if (!json) context.print("\nswitches (--set NAME=VALUE)\n");
  for (const auto& one : laboratory::capsule::switches()) {
    switches.push(Json::object({{"switch", one.id}, {"title", one.title}, {"values", one.values}}));
    if (!json) context.print(fmt::format("  {:<13} {}: {}\n", one.id, one.title, one.values));
  }
  if (!json && !open->empty()) context.print("\nactive changes\n");
  for (const auto& one : *open) {
    changes.push(
        Json::object({{"process_id", one.process_id}, {"purpose", one.purpose}, {"alive", one.alive}, {"change", one.text}}));
    if (!json)
      context.print(fmt::format("  {} by process {} ({}){}\n", one.text, one.process_id, one.purpose,
                                one.alive ? "" : ", which has exited: 'aaco capsule restore' undoes it"));
  }
  if (json)
    context.print_json(Json::object({{"schema_version", 1},
                                     {"levels", std::move(levels)},
                                     {"switches", std::move(switches)},
                                     {"changes", std::move(changes)}}));
}

void restore(Context& context, bool json) {
  const auto restored = workflows::restore_left_behind(make_services(context));
  if (!restored) return context.fail(restored.error());
  Json done = Json::array(), left = Json::array();
  for (const auto& text : restored->texts) done.push(text);
  for (const auto& text : restored->left) left.push(text);
  if (json) {
    context.print_json(Json::object(
        {{"schema_version", 1}, {"undone", restored->undone}, {"changes", std::move(done)}, {"left", std::move(left)}}));
  } else {
    for (const auto& text : restored->texts) context.print(text + "\n");
    context.print(fmt::format("{} leftover change{} undone\n", restored->undone, restored->undone == 1 ? "" : "s"));
  }
  if (restored->left.empty()) return;
  context.fail(
      {core::ErrorCode::io, "cannot undo " + restored->left.front(), "processes may still be using it; try again later", {}});
}

void print_stability(const Context& context, const analytics::noise::StabilityVerdict& verdict) {
  using core::format_percent;
  for (const auto& loop : verdict.loops)
    context.print(fmt::format(
        "{:<7} median {}; variation {} between calls, {} between identical processes (max {} above min)\n"
        "        smallest detectable effect, 10 s per side: {} interleaved, {} in one process; 60 s: {} and {}\n",
        loop.id, core::format_duration(loop.median_ns), format_percent(loop.within_ratio), format_percent(loop.between_ratio),
        format_percent(loop.range_ratio), format_percent(loop.interleaved.at(10)), format_percent(loop.one_process.at(10)),
        format_percent(loop.interleaved.at(60)), format_percent(loop.one_process.at(60))));
  const auto cores = [&](const char* id, const char* what) {
    if (const auto value = verdict.values.find(id); value != verdict.values.end())
      context.print(fmt::format("{}: {:.2f} CPUs\n", what, value->second));
  };
  cores("others_cores", "other processes");
  cores("steal_cores", "stolen by the hypervisor");
  context.print(verdict.fit ? "suitable for measuring\n" : "not suitable for measuring:\n");
  for (const auto& text : verdict.against) context.print("  " + text + "\n");
}

void check_machine(Context& context, const std::string& duration, bool json) {
  const auto time = core::parse_duration_ns(duration);
  if (!time || *time <= 0)
    return context.fail({core::ErrorCode::invalid_argument,
                         "invalid value '" + duration + "' for '--duration': expected a duration such as 20s",
                         {},
                         {}});
  const auto verdict = workflows::check_stability(core::Nanoseconds(*time), make_services(context));
  context.progress("");
  if (!verdict) return context.fail(verdict.error());
  if (json)
    context.print_json(to_json(*verdict));
  else
    print_stability(context, *verdict);
  context.exit_code = verdict->fit ? kFine : kInconclusive;
}

}  // namespace

void add_capsule(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("capsule", "Isolate a command from other load on the machine: aaco capsule [options] -- COMMAND");
  auto options = std::make_shared<CapsuleOptions>();
  verb->add_option("--level", options->isolation.level,
                   "light, standard or strict (default: standard); 'aaco capsule ls' lists them");
  verb->add_option("--set", options->isolation.changes, "Set a switch, NAME=VALUE; NAME= disables it (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("command", options->command, "Command and its arguments, after '--'");
  verb->positionals_at_end();
  verb->require_subcommand(0, 1);
  verb->footer(
      "Settings that cannot be applied are listed with the reason, and the command runs anyway. Everything is restored when the\n"
      "command ends; after kill -9, it is restored by 'aaco capsule restore' or the next measurement.\n"
      "The exit code is the command's; 125 means that the capsule itself failed.\n\n"
      "Examples:\n  aaco capsule -- ./benchmark\n  aaco capsule --level strict --set boost= -- python3 bench.py\n  aaco capsule "
      "--set affinity=2-3 --set nice=-5 -- ./server\n  aaco run --model squeezenet --isolate standard");
  CLI::App* ls = verb->add_subcommand("ls", "List levels, switches and active changes");
  auto json = std::make_shared<bool>(false);
  ls->add_flag("--json", *json, "Print JSON");
  ls->callback([&context, json] { list_levels(context, *json); });
  CLI::App* check = verb->add_subcommand(
      "check", "Check whether this machine is suitable for measuring, and show its smallest detectable effect");
  auto duration = std::make_shared<std::string>("20s");
  check->add_option("--duration", *duration, "How long to measure")->type_name("TIME")->capture_default_str();
  check->add_flag("--json", *json, "Print JSON");
  check->footer(
      "Measures two calibrated loops in ten short processes, because results vary more between identical processes than between\n"
      "the calls within one process. The limits are in data/rules/stability.yaml.\n"
      "Exit codes: 0 suitable, 4 not suitable (with reasons).");
  check->callback([&context, duration, json] { check_machine(context, *duration, *json); });
  CLI::App* back = verb->add_subcommand("restore", "Undo changes left behind by killed runs");
  back->add_flag("--json", *json, "Print JSON");
  back->callback([&context, json] { restore(context, *json); });
  verb->callback([&context, options, verb] {
    if (verb->get_subcommands().empty()) isolate_command(context, *options);
  });
}

}  // namespace aaco::cli
