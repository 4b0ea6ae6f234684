#include "cli/output/live_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/clock.h"
#include "core/files.h"

namespace aaco::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";  // alternate screen, no cursor, no line wrap
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H", kRestOfLine = "\x1b[K", kRestOfScreen = "\x1b[J";

void write_terminal(std::string_view text) { (void)core::write_all(STDOUT_FILENO, text, "the terminal"); }

}  // namespace

LiveTerminal::LiveTerminal() {
  if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  write_terminal(kEnter);
}

LiveTerminal::~LiveTerminal() {
  write_terminal(kLeave);
  if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::pair<int, int> LiveTerminal::size(int width, int height) const {
  winsize now{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0) return {width, height};
  return {now.ws_col, now.ws_row};
}

void LiveTerminal::draw(const std::vector<std::string>& lines) const {
  std::string text(kHome);
  // Cleared before it is written: after a line as wide as the terminal, the cursor stands on its last character.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += i + 1 < lines.size() ? kRestOfLine : kRestOfScreen;
    text += lines[i];
    if (i + 1 < lines.size()) text += "\r\n";
  }
  write_terminal(text);
}

char LiveTerminal::wait_key(std::int64_t deadline_ns) const {
  const std::int64_t left_ms = std::clamp<std::int64_t>((deadline_ns - core::monotonic_ns()) / 1'000'000, 0, 60'000);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(left_ms)) <= 0) return 0;
  char key = 0;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  if (count < 0 && errno == EINTR) return 0;
  return count == 1 ? key : kGone;
}

bool speaks_unicode(const core::Environment& environment) {
  const std::string locale =
      environment.get("LC_ALL").value_or(environment.get("LC_CTYPE").value_or(environment.get("LANG").value_or("C.UTF-8")));
  return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace aaco::cli
