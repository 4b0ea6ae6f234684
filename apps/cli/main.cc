#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <sstream>

#include "cli/context.h"
#include "cli/output/help_formatter.h"
#include "cli/output/usage_error.h"
#include "cli/standard_streams.h"
#include "cli/verbs/list.h"
#include "core/numbers.h"

namespace {

std::atomic<bool> stop_requested{false};
std::atomic<bool> terminal_lent{false};

// The first stop asks, the second ends the program at once. A Ctrl-C that the terminal sent while a child has it is the
// child's to answer: it got the signal too.
void request_stop(int number, siginfo_t* sender, void*) {
  if (number == SIGINT && terminal_lent && sender->si_code == SI_KERNEL) return;
  if (stop_requested.exchange(true)) {
    std::signal(number, SIG_DFL);
    raise(number);
  }
}

void listen_for_stop() {
  struct sigaction action {};
  action.sa_sigaction = &request_stop;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hang_up {};  // the terminal has gone: what was measured is kept as well, unless nohup wants it to go on
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

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
  context.stop = &stop_requested;
  context.terminal_lent = &terminal_lent;
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

}  // namespace

int main(int argc, char** argv) {
  aaco::cli::open_missing_streams();
  aaco::cli::Context context = make_context(argc, argv);
  listen_for_stop();

  CLI::App app(kAbout, "aaco");
  app.set_version_flag("--version", "aaco " AACO_VERSION);
  app.add_flag("-q,--quiet", context.quiet, "Print only errors (stderr) and the id of a new session (stdout)");
  app.add_option("--sessions", context.paths.sessions, "Root folder for sessions (default: $AACO_SESSIONS, or ./sessions)");
  app.formatter(std::make_shared<aaco::cli::HelpFormatter>(context.width));
  app.footer(kFooter);
  app.failure_message(&aaco::cli::usage_error);
  app.require_subcommand(1);
  app.fallthrough();

  aaco::cli::add_verbs(app, context);

  try {
    app.parse(argc, argv);
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
