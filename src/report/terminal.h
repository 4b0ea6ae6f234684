#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::report {

// Text that cannot steer a terminal: control characters (escape sequences, NUL, newlines) become a space, invalid UTF-8 and
// bidirectional overrides U+FFFD. With `ascii`, every character beyond ASCII becomes '?'.
std::string printable(std::string_view text, bool ascii = false);

// The same text with U+FFFD for every byte that is not part of valid UTF-8.
std::string valid_utf8(std::string_view text);

// Columns that valid UTF-8 takes on a terminal: combining marks none, East Asian wide characters and emoji two.
int display_width(std::string_view text);

// At most `width` columns; what is too long loses its middle (names differ at both ends) and shows an ellipsis there.
std::string fit(std::string_view text, int width, bool ascii = false);
// `fit`, then padded with spaces to exactly `width` columns.
std::string fit_left(std::string_view text, int width, bool ascii = false);
std::string fit_right(std::string_view text, int width, bool ascii = false);

// Lines of at most `width` columns, broken at spaces; a word longer than a line is cut across lines.
std::vector<std::string> wrap(std::string_view text, int width);

// A horizontal bar of `ratio` (0..1, clamped) of `width` columns, in eighths where Unicode is allowed.
std::string bar(double ratio, int width, bool ascii = false);
// One character a value, low to high; the values are thinned to `width` columns by the largest of each. Not finite: a space.
std::string sparkline(std::span<const double> values, int width, bool ascii = false);

}  // namespace aaco::report
