#pragma once

#include <termios.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/environment.h"

namespace aaco::cli {

// The terminal as a screen that is drawn again and again: alternate screen, no echo, no cursor; as before at the end.
class LiveTerminal {
 public:
  static constexpr char kGone = '\x04';  // the terminal was closed

  LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;
  ~LiveTerminal();

  // Columns and lines, or these where the terminal does not say.
  [[nodiscard]] std::pair<int, int> size(int width, int height) const;
  // In one write, so that nothing flickers.
  void draw(const std::vector<std::string>& lines) const;
  // The next key, 0 at the deadline (monotonic ns) or where a signal came.
  char wait_key(std::int64_t deadline_ns) const;

 private:
  termios before_{};
  bool changed_ = false;
};

bool speaks_unicode(const core::Environment& environment);

}  // namespace aaco::cli
