#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/options/empty_values.h"
#include "cli/output/help_formatter.h"
#include "cli/output/usage_error.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "cli/verbs/list.h"
#include "core/numbers.h"
#include "core/out_of_memory.h"
#include "workflows/store.h"

namespace {

int terminal_width(const aaco::core::Environment& environment) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const auto columns = environment.get("COLUMNS"))
    if (const auto width = aaco::core::parse_i64(*columns); width && *width > 20 && *width < 1000)
      return static_cast<int>(*width);
  return 100;
}

aaco::cli::Context make_context(int argc, char** argv) {
  aaco::cli::Context context;
  context.environment = aaco::core::Environment::of_process();
  context.paths = aaco::core::Paths::find(context.environment, aaco::core::executable_path());
  context.command_line.assign(argv, argv + argc);
  context.terminal = isatty(STDERR_FILENO) != 0;
  context.colour = isatty(STDOUT_FILENO) != 0 && !context.environment.get("NO_COLOR") &&
                   context.environment.get("TERM").value_or("dumb") != "dumb";
  context.width = terminal_width(context.environment);
  context.progress_file = context.environment.get("AACO_PROGRESS_FILE").value_or("");
  return context;
}

constexpr const char* kAbout =
    "AACO, the AI Compute Observatory: shows where an AI workload's time goes, why it changed, what the bottleneck is,\n"
    "what to fix first, and how close the workload gets to the limits of the hardware.\n\n"
    "Start here:\n"
    "  aaco run --model resnet50 --telemetry --profile   run a model and see where its time goes\n"
    "  aaco record -- python3 train.py                   observe any program\n"
    "  aaco report latest --html report.html             write the report as a web page\n"
    "  aaco doctor                                       check which features work on this machine";

constexpr const char* kFooter =
    "A SESSION is an id (or its prefix), a path, 'latest', or 'tag:NAME'.\n"
    "Exit codes: 0 success, 1 regression or violated SLA, 2 usage error,\n"
    "            3 environment or input error, 4 inconclusive or not comparable,\n"
    "            125 'record' or 'capsule' itself failed.";

// 'aaco help VERB' is 'aaco VERB --help'.
std::vector<const char*> with_help_as_option(int argc, char** argv) {
  static constexpr const char* kHelp = "--help";
  std::vector<const char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back(kHelp);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  aaco::core::exit_when_out_of_memory("aaco", aaco::cli::kEnvironment);
  aaco::cli::open_missing_streams();
  aaco::cli::Context context = make_context(argc, argv);
  aaco::cli::listen_for_stop(context);

  CLI::App app(kAbout, "aaco");
  app.set_version_flag("--version", "aaco " AACO_VERSION);
  app.add_flag("-q,--quiet", context.quiet, "Print only errors (stderr) and the id of a new session (stdout)");
  app.add_option("--sessions", context.paths.sessions, "Root folder for sessions (default: $AACO_SESSIONS, or ./sessions)");
  std::string mode;
  app.add_option("--mode", mode,
                 "Who can read new sessions below this root: private (default) or group; stored in the permissions of the root")
      ->type_name("MODE");
  app.formatter(std::make_shared<aaco::cli::HelpFormatter>(context.width));
  app.footer(kFooter);
  app.failure_message(&aaco::cli::usage_error);
  app.require_subcommand(1);
  app.fallthrough();

  aaco::cli::add_verbs(app, context);
  aaco::cli::refuse_empty_values(app);
  app.parse_complete_callback([&] {
    if (app.got_subcommand("record") || app.got_subcommand("capsule"))
      aaco::core::exit_when_out_of_memory("aaco", aaco::cli::kRecordFailed);
    if (mode.empty()) return;
    if (const auto set = aaco::workflows::set_lake_mode(mode, context.paths); !set) {
      context.fail(set.error());
      throw CLI::RuntimeError(context.exit_code);
    }
  });

  try {
    const auto words = with_help_as_option(argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::RuntimeError& problem) {
    context.exit_code = problem.get_exit_code();
  } catch (const CLI::ParseError& problem) {
    std::ostringstream help;
    std::ostringstream trouble;
    context.exit_code = app.exit(problem, help, trouble) == 0 ? aaco::cli::kFine : aaco::cli::kUsage;
    context.print(help.str());
    std::fputs(trouble.str().c_str(), stderr);
  }
  aaco::cli::finish_output(context, app.got_subcommand("record") ? aaco::cli::kRecordFailed : aaco::cli::kEnvironment);
  return context.exit_code;
}
