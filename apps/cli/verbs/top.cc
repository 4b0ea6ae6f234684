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
#include "cli/output/remote_view.h"
#include "cli/output/top_recorder.h"
#include "core/clock.h"
#include "core/files.h"
#include "workflows/live.h"

namespace aaco::cli {
namespace {

constexpr std::int64_t kTwoReadings_ns = 1'000'000'000;  // --once: what is a difference needs two

struct TopOptions {
  std::string session;  // or the URL of a server
  std::string token_file;
  std::string root = "/";
  std::vector<std::int64_t> processes;
  double refresh_s = 1;
  double speed = 1;
  bool once = false;
  bool json = false;
  std::optional<double> at_s;
  std::optional<int> width, height;
};

bool is_remote(const TopOptions& options) {
  return options.session.starts_with("http://") || options.session.starts_with("https://");
}

// Where the view comes from: this machine, a stored session or a server.
class Views {
 public:
  Views(const TopOptions& options, const core::Paths& paths)
      : options_(options), machine_(options.root), sessions_(paths.sessions), processes_(options.root) {}
  void replay(workflows::Replay replay) { replay_.emplace(std::move(replay)); }
  void remote(RemoteView remote) { remote_.emplace(std::move(remote)); }
  // Why the last view is an old one; empty: it is not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool ended() const { return replay_ && seconds_ >= replay_->length_s(); }

  report::LiveView next(double passed_s) {
    if (replay_) {
      seconds_ = std::min(seconds_ + passed_s * options_.speed, replay_->length_s());
      return replay_->at(seconds_);
    }
    if (remote_) return from_remote();
    report::LiveView view;
    view.machine = machine_.sample();
    view.sessions = sessions_.read();
    std::vector<std::int64_t> watched = options_.processes;
    for (const auto& session : view.sessions) watched.push_back(session.process_id);
    view.processes = processes_.look(watched);
    return view;
  }

 private:
  // The last view stays until the server answers again.
  report::LiveView from_remote() {
    auto view = remote_->read();
    problem_ = view ? "" : view.error().message + "; trying again";
    if (view) last_ = std::move(*view);
    return last_;
  }

  const TopOptions& options_;
  std::optional<RemoteView> remote_;
  report::LiveView last_;
  std::string problem_;
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
  const bool replay = !options.session.empty() && !is_remote(options);
  report::LiveView view = views.next(replay ? options.at_s.value_or(INFINITY) : 0);
  if (!views.problem().empty()) return context.fail({core::ErrorCode::io, views.problem(), "start it there: aaco serve", {}});
  if (!replay) {
    const core::SystemClock clock;
    clock.sleep_until(core::monotonic_ns() + kTwoReadings_ns);
    view = views.next(0);
  }
  if (options.json) return context.print_json(to_json(view));
  for (const std::string& line : live_screen(view, screen_options(options, context))) context.print(line + "\n");
}

// Starts or stops a recording of the first process that is shown; the answer says why not.
std::string record(const TopOptions& options, const report::LiveView& view, TopRecorder& recorder, bool profile) {
  if (is_remote(options)) return "recording works on the machine itself: start 'aaco top' there";
  if (!options.session.empty()) return "a replay cannot be recorded";
  std::int64_t process = options.processes.empty() ? 0 : options.processes.front();
  if (process == 0 && !view.processes.empty()) process = view.processes.front().id;
  if (process == 0) return "no process is watched: start 'aaco top --pid N', or a session";
  recorder.toggle(process, profile);
  return "";
}

void show_always(Context& context, const TopOptions& options, Views& views) {
  report::ScreenOptions screen = screen_options(options, context);
  screen.keys = true;
  auto terminal = std::make_unique<LiveTerminal>();
  report::LiveView view = views.next(0);
  std::int64_t drawn_ns = core::monotonic_ns();
  TopRecorder recorder(core::executable_path(), context.paths.sessions);
  std::string note;
  while (!context.stop->load()) {
    screen.note = !views.problem().empty() ? views.problem() : note.empty() ? recorder.state() : note;
    std::tie(screen.width, screen.height) = terminal->size(screen.width, screen.height);
    if (options.width) screen.width = *options.width;
    terminal->draw(live_screen(view, screen));
    const char key = terminal->wait_key(drawn_ns + static_cast<std::int64_t>(options.refresh_s * 1e9));
    if (key == 'q' || key == LiveTerminal::kGone) break;
    if (key != 0) note.clear();
    if (key == 'r' || key == 'p') note = record(options, view, recorder, key == 'p');
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
  recorder.finish();
  const std::string recorded = recorder.state();
  terminal.reset();
  if (!recorded.empty()) context.note(recorded);
}

void show_top(Context& context, const TopOptions& options) {
  Views views(options, context.paths);
  if (is_remote(options)) {
    auto remote = RemoteView::open(options.session, options.token_file, context.environment, context.paths);
    if (!remote) return context.fail(remote.error());
    views.remote(std::move(*remote));
  } else if (!options.token_file.empty()) {
    return context.fail({core::ErrorCode::invalid_argument,
                         "--token-file requires the URL of a server",
                         "for example: aaco top http://127.0.0.1:8501",
                         {}});
  } else if (!options.session.empty()) {
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
  verb->add_option("session", options->session,
                   "Replay the telemetry of this session instead, or show another machine: http://HOST:PORT of its 'aaco serve'");
  verb->add_option("--token-file", options->token_file, "With a URL: the server's token (default: your server's on this machine)")
      ->type_name("FILE");
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
      "Keys: q quit, f freeze, t process tree, s sort processes by CPU, memory or pid, r record the first watched process as a\n"
      "session (again: stop), p the same with what the operating system does (--ebpf).\n\nExamples:\n  aaco top\n  aaco top "
      "--once --json\n  aaco top latest --speed 10\n  aaco top http://127.0.0.1:8501");
  verb->callback([&context, options] { show_top(context, *options); });
}

}  // namespace aaco::cli
