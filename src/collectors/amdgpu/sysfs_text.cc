#include "collectors/amdgpu/sysfs_text.h"

#include <cmath>

#include "collectors/probe/scanner.h"

namespace aaco::collectors::amdgpu {
namespace {

using probe::Scanner;

constexpr double kMegahertz = 1e6;

// "1: 2100Mhz *" -> 2100e6; the driver writes Mhz and MHz.
std::optional<double> clock_of_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(colon + 1);
  // The last word with the unit: a PCIe line has its clock behind speed and width.
  const std::size_t unit = std::min(rest.find("Mhz"), rest.find("MHz"));
  if (unit == std::string_view::npos) return std::nullopt;
  std::size_t begin = unit;
  while (begin > 0 && rest[begin - 1] >= '0' && rest[begin - 1] <= '9') --begin;
  const auto megahertz = Scanner(rest.substr(begin, unit - begin)).next_i64();
  return megahertz ? std::optional(static_cast<double>(*megahertz) * kMegahertz) : std::nullopt;
}

std::optional<double> count_after(std::string_view text, std::string_view key) {
  Scanner lines(text);
  while (const auto line = lines.next_line())
    if (line->starts_with(key))
      if (const auto count = Scanner(line->substr(key.size())).next_u64()) return static_cast<double>(*count);
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_level(std::string_view text) {
  Scanner words(text);
  const auto value = words.next_f64();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> parse_current_clock(std::string_view text) {
  Scanner lines(text);
  while (const auto line = lines.next_line())
    if (line->find('*') != std::string_view::npos) return clock_of_line(*line);
  return std::nullopt;
}

std::vector<double> parse_clock_levels(std::string_view text) {
  std::vector<double> levels;
  Scanner lines(text);
  while (const auto line = lines.next_line())
    if (const auto clock = clock_of_line(*line)) levels.push_back(*clock);
  return levels;
}

std::optional<double> parse_link_speed(std::string_view text) {
  Scanner words(text);
  const auto speed = words.next_f64();
  const auto unit = words.next_word();
  if (!speed || !unit || *unit != "GT/s" || !(*speed > 0) || !std::isfinite(*speed)) return std::nullopt;
  return *speed * 1e9;
}

std::optional<double> parse_correctable(std::string_view text) { return count_after(text, "ce:"); }
std::optional<double> parse_uncorrectable(std::string_view text) { return count_after(text, "ue:"); }

}  // namespace aaco::collectors::amdgpu
