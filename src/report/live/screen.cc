#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "report/live.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

constexpr std::string_view kPlain = "\x1b[0m", kBold = "\x1b[1m", kGreen = "\x1b[32m", kYellow = "\x1b[33m", kRed = "\x1b[31m",
                           kDim = "\x1b[2m";
constexpr double kBusy = 0.5, kFull = 0.85;  // of a meter's colours
constexpr double kHot_celsius = 85;
constexpr int kMinWidth = 60, kMaxWidth = 200;

// Lines of a fixed width; colours take no columns.
class Screen {
 public:
  explicit Screen(const ScreenOptions& options)
      : options_(options), width_(std::clamp(options.width, kMinWidth, kMaxWidth)), ascii_(!options.unicode) {}

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool ascii() const { return ascii_; }
  [[nodiscard]] std::string painted(std::string_view text, std::string_view colour) const {
    if (!options_.colour || text.empty()) return std::string(text);
    return std::string(colour) + std::string(text) + std::string(kPlain);
  }
  [[nodiscard]] std::string meter(std::optional<double> ratio, int width) const {
    const double value = std::clamp(ratio.value_or(0), 0.0, 1.0);
    const std::string inner = fit_left(bar(value, width, ascii_), width, ascii_);
    return "[" + painted(inner, value >= kFull ? kRed : value >= kBusy ? kYellow : kGreen) + "]";
  }
  [[nodiscard]] std::string percent(std::optional<double> ratio) const {
    return ratio ? fmt::format("{:3.0f} %", *ratio * 100) : ascii_ ? "  - %" : "  – %";
  }
  [[nodiscard]] std::string cell(std::string_view text, int width) const {
    return fit_left(printable(text, ascii_), width, ascii_);
  }
  [[nodiscard]] std::string right(std::string_view text, int width) const {
    return fit_right(printable(text, ascii_), width, ascii_);
  }

  // Plain text is cut to the width.
  void text(std::string_view line, std::string_view colour = {}) {
    std::string cut = fit(printable(line, ascii_), width_, ascii_);
    lines_.push_back(colour.empty() ? std::move(cut) : painted(cut, colour));
  }
  // Of cells that fit already.
  void raw(std::string line) { lines_.push_back(std::move(line)); }
  void blank() { lines_.emplace_back(); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  const ScreenOptions& options_;
  int width_;
  bool ascii_;
  std::vector<std::string> lines_;
};

void show_cores(Screen& screen, const LiveMachine& machine, int max_rows) {
  const auto count = static_cast<int>(machine.core_use_ratios.size());
  if (count == 0) return;
  constexpr int kMinCell = 15;
  const int columns = std::clamp(screen.width() / kMinCell, 1, std::max(1, count));
  const int rows = (count + columns - 1) / columns;
  const int cell = screen.width() / columns;
  for (int row = 0; row < std::min(rows, max_rows); ++row) {
    std::string line;
    for (int core = row; core < count; core += rows) {
      const auto use = machine.core_use_ratios[static_cast<std::size_t>(core)];
      line += fmt::format("{:>4} ", core) + screen.meter(use, cell - 13) + screen.percent(use) + " ";
    }
    screen.raw(std::move(line));
  }
  if (rows > max_rows) screen.text(fmt::format("     {} more cores", count - count / rows * max_rows), kDim);
}

void show_machine(Screen& screen, const LiveMachine& machine, int core_rows, bool replayed) {
  std::string head = "CPU " + screen.percent(machine.cpu_use_ratio);
  if (machine.cpu_user_ratio && machine.cpu_system_ratio)
    head += fmt::format("  user {:.0f} %  system {:.0f} %", *machine.cpu_user_ratio * 100, *machine.cpu_system_ratio * 100);
  if (machine.cpu_iowait_ratio) head += fmt::format("  I/O wait {:.0f} %", *machine.cpu_iowait_ratio * 100);
  if (machine.cpu_clock_hz) head += fmt::format("  {:.2f} GHz", *machine.cpu_clock_hz / 1e9);
  if (machine.cpu_power_watts) head += fmt::format("  {:.0f} W", *machine.cpu_power_watts);
  if (machine.cpu_temperature_celsius) head += fmt::format("  {:.0f} °C", *machine.cpu_temperature_celsius);
  if (machine.load_1min) head += fmt::format("  load {:.2f}", *machine.load_1min);
  if (replayed && head == "CPU " + screen.percent(std::nullopt))
    screen.text("no telemetry of the machine in this session (aaco run --telemetry records it)", kDim);
  else
    screen.text(head, kBold);
  show_cores(screen, machine, core_rows);
  std::string waits;
  const auto wait = [&](const char* name, std::optional<double> ratio) {
    if (ratio) waits += fmt::format("{}{} {:.1f} %", waits.empty() ? "Waits  " : "  ", name, *ratio * 100);
  };
  wait("CPU", machine.cpu_wait_ratio);
  wait("memory", machine.memory_wait_ratio);
  wait("I/O", machine.io_wait_ratio);
  if (!waits.empty()) screen.text(waits);
  if (machine.memory_available_bytes)
    screen.text("Memory " + core::format_bytes(*machine.memory_available_bytes) + " available" +
                (machine.memory_total_bytes ? " of " + core::format_bytes(*machine.memory_total_bytes) : ""));
}

void show_gpus(Screen& screen, const std::vector<LiveGpu>& gpus) {
  if (gpus.empty()) return;
  screen.blank();
  const bool wide = screen.width() >= 80;
  screen.text(wide ? "GPU  use                  memory              power          temp   clock     throttled"
                   : "GPU  use            memory   power   temp    clock",
              kBold);
  for (const LiveGpu& gpu : gpus) {
    const std::string memory = gpu.memory_used_bytes ? core::format_bytes(*gpu.memory_used_bytes) : "–";
    std::string power = gpu.power_watts ? fmt::format("{:.0f} W", *gpu.power_watts) : "–";
    if (wide && gpu.power_cap_watts) power += fmt::format(" of {:.0f}", *gpu.power_cap_watts);
    const std::string heat = gpu.temperature_celsius ? fmt::format("{:.0f} °C", *gpu.temperature_celsius) : "–";
    const std::string clock = gpu.clock_hz ? fmt::format("{:.0f} MHz", *gpu.clock_hz / 1e6) : "–";
    std::string reasons;
    for (const std::string& reason : gpu.throttled) reasons += (reasons.empty() ? "" : ", ") + reason;
    const bool hot = gpu.temperature_celsius && *gpu.temperature_celsius >= kHot_celsius;
    std::string line =
        fmt::format("{:>3}  ", gpu.device) + screen.meter(gpu.use_ratio, wide ? 12 : 6) + screen.percent(gpu.use_ratio) + "  ";
    line += screen.cell(wide && gpu.memory_total_bytes ? memory + " of " + core::format_bytes(*gpu.memory_total_bytes) : memory,
                        wide ? 20 : 9);
    line += screen.cell(power, wide ? 15 : 8) + screen.painted(screen.cell(heat, 7), hot ? kRed : std::string_view());
    line += screen.cell(clock, wide ? 10 : 9);
    const int left = screen.width() - (wide ? 79 : 54);
    if (left > 0) line += screen.painted(fit(reasons, left, screen.ascii()), kYellow);
    screen.raw(std::move(line));
    if (!wide && !reasons.empty()) screen.text("     throttled: " + reasons, kYellow);
  }
}

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void show_session(Screen& screen, const LiveSession& session, std::int64_t now_ns) {
  const std::string took = elapsed_text(static_cast<double>(now_ns - session.started_ns) / 1e9);
  const std::string head = fmt::format("{} {}", session.kind, session.what);
  screen.raw(screen.painted(screen.cell(head, screen.width() - 30), kBold) + screen.right(session.phase + "  " + took, 30));
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : "  ") + fact; };
  if (session.iterations > 0) add(core::format_count(static_cast<double>(session.iterations)) + " iterations");
  std::string median = session.median_ns ? "median " + core::format_duration(*session.median_ns) : "";
  if (session.median_ns && session.median_low_ns && session.median_high_ns && *session.median_ns > 0)
    median += (screen.ascii() ? " +-" : " ±") +
              core::format_percent((*session.median_high_ns - *session.median_low_ns) / 2 / *session.median_ns);
  if (!median.empty()) add(median);
  if (session.left_s) add(elapsed_text(*session.left_s) + " left");
  if (session.done_ratio) {
    const std::string line = "  " + screen.meter(session.done_ratio, 16) + screen.percent(session.done_ratio);
    const bool together = display_width(facts) + 29 <= screen.width();
    screen.raw(together ? line + "  " + printable(facts, screen.ascii()) : line);
    if (together) facts.clear();
  }
  if (!facts.empty()) screen.text("  " + facts);
  if (session.buckets.size() < 2) return;
  std::vector<double> medians;
  const auto shown = std::min<std::size_t>(session.buckets.size(), static_cast<std::size_t>(screen.width() - 34));
  for (auto one = session.buckets.end() - static_cast<std::ptrdiff_t>(shown); one != session.buckets.end(); ++one)
    medians.push_back(one->p50_ns);
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());  // of what is drawn
  screen.raw("  " + sparkline(medians, static_cast<int>(shown), screen.ascii()) + "  " +
             fit(printable("p50 " + core::format_duration(*low) + " to " + core::format_duration(*high), screen.ascii()), 28,
                 screen.ascii()));
}

void show_processes(Screen& screen, std::vector<LiveProcess> processes, const ScreenOptions& options, std::size_t rows) {
  if (processes.empty() || rows < 2) return;
  if (!options.tree)
    std::stable_sort(processes.begin(), processes.end(), [&](const LiveProcess& a, const LiveProcess& b) {
      if (options.order == LiveOrder::memory) return a.resident_bytes > b.resident_bytes;
      if (options.order == LiveOrder::id) return a.id < b.id;
      return a.cpu_cores.value_or(0) > b.cpu_cores.value_or(0);
    });
  const int name_width = screen.width() - 43;
  screen.raw(screen.painted(screen.right("pid", 8) + screen.right("cores", 7) + screen.right("wait", 8) +
                                screen.right("memory", 11) + screen.right("threads", 8),
                            kBold) +
             screen.painted(" process", kBold));
  std::size_t shown = 0;
  for (const LiveProcess& process : processes) {
    if (++shown >= rows && processes.size() >= rows) {
      screen.text(fmt::format("{:>8} more processes", processes.size() - shown + 1), kDim);
      return;
    }
    const std::string indent(options.tree ? static_cast<std::size_t>(std::min(process.depth, 8)) * 2 : 0, ' ');
    screen.raw(screen.right(std::to_string(process.id), 8) +
               screen.right(process.cpu_cores ? fmt::format("{:.2f}", *process.cpu_cores) : "–", 7) +
               screen.right(process.wait_ratio ? fmt::format("{:.0f} %", *process.wait_ratio * 100) : "–", 8) +
               screen.right(core::format_bytes(process.resident_bytes), 11) + screen.right(std::to_string(process.threads), 8) +
               " " + fit(printable(indent + process.name, screen.ascii()), name_width, screen.ascii()));
  }
}

}  // namespace

std::vector<std::string> live_screen(const LiveView& view, const ScreenOptions& options) {
  Screen screen(options);
  const std::string state = !view.title.empty() ? "replay of " + view.title : options.frozen ? "frozen" : "live";
  screen.text("aaco top  " + (view.machine.name.empty() ? "" : view.machine.name + "  ") + state, kBold);
  show_machine(screen, view.machine, std::max(2, options.height / 4), !view.title.empty());
  show_gpus(screen, view.machine.gpus);
  screen.blank();
  if (view.sessions.empty() && view.title.empty())
    screen.text("No session is running. Start one: aaco run --model resnet50", kDim);
  for (const LiveSession& session : view.sessions) show_session(screen, session, view.machine.time_ns);
  const auto height = static_cast<std::size_t>(std::max(5, options.height));
  const std::size_t foot = (options.keys ? 1U : 0U) + (options.note.empty() ? 0U : 1U);
  if (!view.processes.empty() && screen.size() + 3 + foot < height) {
    screen.blank();
    show_processes(screen, view.processes, options, height - screen.size() - foot - 1);
  }
  std::vector<std::string> lines = screen.take();
  if (lines.size() > height - foot) {
    const std::size_t left_out = lines.size() - (height - foot) + 1;
    lines.resize(height - foot - 1);
    lines.push_back(fmt::format("{} more lines: use a taller terminal", left_out));
  }
  Screen last(options);
  if (!options.note.empty()) last.text(options.note, kYellow);
  if (options.keys) last.text("q quit  f freeze  t tree  s sort  r record  p profile", kDim);
  for (std::string& line : last.take()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace aaco::report
