#include "report/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace aaco::report {
namespace {

constexpr char32_t kInvalid = 0xFFFD;

// The code point at `at`, which moves behind it; kInvalid for a byte that is not part of valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  ++at;
  if (byte < 0x80) return byte;
  const int length = byte >= 0xF0 && byte < 0xF5 ? 4 : byte >= 0xE0 && byte < 0xF0 ? 3 : byte >= 0xC2 && byte < 0xE0 ? 2 : 0;
  if (length == 0 || at - 1 + static_cast<std::size_t>(length) > text.size()) return kInvalid;
  char32_t code = byte & (0xFFU >> (length + 1));
  for (int i = 0; i < length - 1; ++i) {
    const auto next = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
    if ((next & 0xC0U) != 0x80) return kInvalid;
    code = code << 6 | (next & 0x3FU);
  }
  const bool over_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (over_long || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return kInvalid;
  at += static_cast<std::size_t>(length - 1);
  return code;
}

struct Range {
  char32_t first, last;
};

bool in(std::span<const Range> ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](Range range) { return code >= range.first && code <= range.last; });
}

// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 8> kZeroWidth = {{{0x300, 0x36F},
                                              {0x483, 0x489},
                                              {0x591, 0x5BD},
                                              {0x610, 0x61A},
                                              {0x200B, 0x200D},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F},
                                              {0xFE20, 0xFE2F}}};
// East Asian Wide and Fullwidth blocks (Unicode TR 11) and emoji.
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0x1F300, 0x1FAFF}}};
// Marks that reorder what stands around them: a hostile name must not.
constexpr std::array<Range, 3> kReordering = {{{0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}}};

int width_of(char32_t code) { return in(kZeroWidth, code) ? 0 : in(kWide, code) || (code >= 0x20000 && code <= 0x3FFFD) ? 2 : 1; }

// The longest head (or tail) of whole characters that takes at most `width` columns.
std::string_view head(std::string_view text, int width) {
  std::size_t at = 0, end = 0;
  int used = 0;
  while (at < text.size()) {
    used += width_of(next_code_point(text, at));
    if (used > width) break;
    end = at;
  }
  return text.substr(0, end);
}

std::string_view tail(std::string_view text, int width) {
  int skip = display_width(text) - width;
  std::size_t at = 0;
  while (at < text.size() && skip > 0) skip -= width_of(next_code_point(text, at));
  return text.substr(at);
}

}  // namespace

std::string printable(std::string_view text, bool ascii) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const char32_t code = next_code_point(text, at);
    if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029) {
      out += ' ';
    } else if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (ascii) {
      out += code == 0xB5 ? "u" : code == 0xB1 ? "+/-" : "?";
    } else if (code == kInvalid || in(kReordering, code)) {
      out += "\xEF\xBF\xBD";
    } else {
      out.append(text.substr(from, at - from));
    }
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (next_code_point(text, at) == kInvalid)
      out += "\xEF\xBF\xBD";
    else
      out.append(text.substr(from, at - from));
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) width += width_of(next_code_point(text, at));
  return width;
}

std::string fit(std::string_view text, int width, bool ascii) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view mark = ascii ? "..." : "\u2026";
  const int room = width - (ascii ? 3 : 1);
  if (room < 2) return std::string(head(text, width));
  return std::string(head(text, room - room / 2)) + std::string(mark) + std::string(tail(text, room / 2));
}

std::string fit_left(std::string_view text, int width, bool ascii) {
  std::string out = fit(text, width, ascii);
  out.append(static_cast<std::size_t>(std::max(0, width - display_width(out))), ' ');
  return out;
}

std::string fit_right(std::string_view text, int width, bool ascii) {
  const std::string out = fit(text, width, ascii);
  return std::string(static_cast<std::size_t>(std::max(0, width - display_width(out))), ' ') + out;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::string line;
  int used = 0;
  const auto flush = [&] {
    lines.push_back(std::move(line));
    line.clear();
    used = 0;
  };
  while (!text.empty()) {
    const auto end = text.find(' ');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    if (used > 0 && used + 1 + display_width(word) > width) flush();
    while (display_width(word) > width) {
      std::string_view part = head(word, width);
      if (part.empty()) break;  // one character wider than the line
      line = part;
      word.remove_prefix(part.size());
      flush();
    }
    if (used > 0) {
      line += ' ';
      ++used;
    }
    line += word;
    used += display_width(word);
  }
  if (!line.empty()) flush();
  return lines;
}

std::string bar(double ratio, int width, bool ascii) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "\u258F", "\u258E", "\u258D", "\u258C", "\u258B", "\u258A", "\u2589"};
  if (!(ratio > 0) || width <= 0) return {};
  const double columns = std::min(ratio, 1.0) * width;
  std::string out;
  if (ascii) {
    out.assign(static_cast<std::size_t>(std::max(1.0, std::round(columns))), '#');
    return out;
  }
  const int eighths = std::max(1, static_cast<int>(std::lround(columns * 8)));
  for (int i = 0; i < eighths / 8; ++i) out += "\u2588";
  out += kEighths[static_cast<std::size_t>(eighths % 8)];
  return out;
}

std::string sparkline(std::span<const double> values, int width, bool ascii) {
  constexpr std::array<std::string_view, 8> kBlocks = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                       "\u2585", "\u2586", "\u2587", "\u2588"};
  constexpr std::string_view kLevels = "_.-=+*%#";
  if (width <= 0) return {};
  const std::size_t columns = std::min(values.size(), static_cast<std::size_t>(width));
  std::vector<double> peaks(columns, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& peak = peaks[i * columns / values.size()];
    if (std::isfinite(values[i]) && !(peak >= values[i])) peak = values[i];
  }
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (double peak : peaks)
    if (std::isfinite(peak)) low = std::min(low, peak), high = std::max(high, peak);
  std::string out;
  for (double peak : peaks) {
    if (!std::isfinite(peak)) {
      out += ' ';
      continue;
    }
    const double place = high > low ? (peak - low) / (high - low) : 0;
    const auto level = static_cast<std::size_t>(std::lround(place * 7));
    if (ascii)
      out += kLevels[level];
    else
      out += kBlocks[level];
  }
  return out;
}

}  // namespace aaco::report
