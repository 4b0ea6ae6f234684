#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/live_terminal.h"
#include "core/clock.h"
#include "workflows/live.h"

namespace aaco::cli {
namespace {

constexpr std::int64_t kTwoReadings_ns = 1'000'000'000;  // --once: what is a difference needs two

struct TopOptions {
  std::string session;
  std::string root = "/";
  std::vector<std::int64_t> processes;
  double refresh_s = 1;
  double speed = 1;
  bool once = false;
  bool json = false;
  std::optional<double> at_s;
  std::optional<int> width, height;
};

// Where the view comes from: this machine, or a stored session.
class Views {
 public:
  Views(const TopOptions& options, const core::Paths& paths)
      : options_(options), machine_(options.root), sessions_(paths.sessions), processes_(options.root) {}
  void replay(workflows::Replay replay) { replay_.emplace(std::move(replay)); }
  [[nodiscard]] bool ended() const { return replay_ && seconds_ >= replay_->length_s(); }

  report::LiveView next(double passed_s) {
    if (replay_) {
      seconds_ = std::min(seconds_ + passed_s * options_.speed, replay_->length_s());
      return replay_->at(seconds_);
    }
    report::LiveView view;
    view.machine = machine_.sample();
    view.sessions = sessions_.read();
    std::vector<std::int64_t> watched = options_.processes;
    for (const auto& session : view.sessions) watched.push_back(session.process_id);
    view.processes = processes_.look(watched);
    return view;
  }

 private:
  const TopOptions& options_;
  workflows::MachineWatch machine_;
  workflows::LiveSessions sessions_;
  workflows::ProcessWatch processes_;
  std::optional<workflows::Replay> replay_;
  double seconds_ = 0;
};

report::ScreenOptions screen_options(const TopOptions& options, const Context& context) {
  report::ScreenOptions screen;
  screen.width = options.width.value_or(context.width);
  screen.height = options.height.value_or(40);
  screen.colour = context.colour;
  screen.unicode = speaks_unicode(context.environment);
  screen.keys = false;
  return screen;
}

void show_once(Context& context, const TopOptions& options, Views& views) {
  const bool replay = !options.session.empty();
  report::LiveView view = views.next(replay ? options.at_s.value_or(INFINITY) : 0);
  if (!replay) {
    const core::SystemClock clock;
    clock.sleep_until(core::monotonic_ns() + kTwoReadings_ns);
    view = views.next(0);
  }
  if (options.json) return context.print_json(to_json(view));
  for (const std::string& line : live_screen(view, screen_options(options, context))) context.print(line + "\n");
}

void show_always(Context& context, const TopOptions& options, Views& views) {
  report::ScreenOptions screen = screen_options(options, context);
  screen.keys = true;
  LiveTerminal terminal;
  report::LiveView view = views.next(0);
  std::int64_t drawn_ns = core::monotonic_ns();
  while (!context.stop->load()) {
    std::tie(screen.width, screen.height) = terminal.size(screen.width, screen.height);
    if (options.width) screen.width = *options.width;
    terminal.draw(live_screen(view, screen));
    const char key = terminal.wait_key(drawn_ns + static_cast<std::int64_t>(options.refresh_s * 1e9));
    if (key == 'q' || key == LiveTerminal::kGone) return;
    if (key == 'f') screen.frozen = !screen.frozen;
    if (key == 't') screen.tree = !screen.tree;
    if (key == 's') {
      screen.tree = false;
      screen.order = screen.order == report::LiveOrder::cpu      ? report::LiveOrder::memory
                     : screen.order == report::LiveOrder::memory ? report::LiveOrder::id
                                                                 : report::LiveOrder::cpu;
    }
    const std::int64_t now_ns = core::monotonic_ns();
    if (key != 0) continue;  // drawn again at once, of the same values
    const double passed_s = static_cast<double>(now_ns - drawn_ns) / 1e9;
    drawn_ns = now_ns;
    if (!screen.frozen && !views.ended()) view = views.next(passed_s);
  }
}

void show_top(Context& context, const TopOptions& options) {
  Views views(options, context.paths);
  if (!options.session.empty()) {
    auto replay = workflows::Replay::open(options.session, context.paths);
    if (!replay) return context.fail(replay.error());
    views.replay(std::move(*replay));
  }
  if (options.json && !options.once)
    return context.fail({core::ErrorCode::invalid_argument, "--json requires --once", "add --once", {}});
  if (options.once) return show_once(context, options, views);
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)
    return context.fail(
        {core::ErrorCode::invalid_argument, "top requires a terminal", "use --once, or --once --json in scripts", {}});
  show_always(context, options, views);
}

}  // namespace

void add_top(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("top", "Show the machine and the running sessions in the terminal, live");
  auto options = std::make_shared<TopOptions>();
  verb->add_option("session", options->session, "Replay the telemetry of this session instead");
  verb->add_option("--pid", options->processes, "Show this process and its children too (repeatable)")
      ->type_name("N")
      ->allow_extra_args(false);
  verb->add_option("--refresh", options->refresh_s, "Seconds between two screens")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
  verb->add_option("--speed", options->speed, "With a session: speed factor of the replay")
      ->type_name("X")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  verb->add_option("--at", options->at_s, "With a session and --once: seconds after its start (default: its end)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9));
  verb->add_flag("--once", options->once, "Print one screen and exit");
  verb->add_flag("--json", options->json, "With --once: print JSON");
  verb->add_option("--width", options->width, "Columns, 60 to 200 (default: those of the terminal)")
      ->check(whole_number(60, 200, "N"));
  verb->add_option("--height", options->height, "With --once: lines (default: 40)")->check(whole_number(10, 500, "N"));
  verb->add_option("--root", options->root, "Where /proc and /sys are")->type_name("FOLDER")->group("");
  verb->footer(
      "Keys: q quit, f freeze, t process tree, s sort processes by CPU, memory or pid.\n\nExamples:\n  aaco top\n  aaco top "
      "--once "
      "--json\n  aaco top latest --speed 10");
  verb->callback([&context, options] { show_top(context, *options); });
}

}  // namespace aaco::cli
