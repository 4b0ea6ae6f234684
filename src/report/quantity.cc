#include "report/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::report {
namespace {

// About three significant digits, never in exponent form for what people meet in practice.
std::string plain_number(double value) {
  const double size = std::abs(value);
  if (value == std::trunc(value) && size < 1e7) return core::format_count(value);
  if (size != 0 && (size < 1e-3 || size >= 1e10)) return fmt::format("{:.3g}", value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

// With the SI prefix that leaves one to three digits before the point.
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::pair<double, std::string_view>, 5> kUp = {{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  constexpr std::array<std::pair<double, std::string_view>, 3> kDown = {{{1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
  const double size = std::abs(value);
  for (auto [factor, prefix] : kUp)
    if (size >= factor * 0.9995) return fmt::format("{} {}{}", plain_number(value / factor), prefix, unit);
  if (size >= 0.9995 || size == 0) return fmt::format("{} {}", plain_number(value), unit);
  for (auto [factor, prefix] : kDown)
    if (size >= factor * 0.9995) return fmt::format("{} {}{}", plain_number(value / factor), prefix, unit);
  return fmt::format("{:.3g} {}", value, unit);
}

}  // namespace

std::string format_quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "not a number";
  if (unit == "ns") return core::format_duration(value);
  if (unit == "bytes") return core::format_bytes(value);
  if (unit == "bytes/s") return core::format_bytes(value) + "/s";
  if (unit == "ratio") return core::format_percent(value);
  if (unit == "count" && value == std::trunc(value)) return core::format_count(value);
  if (unit == "count" || unit.empty()) return plain_number(value);
  if (unit == "hz" || unit == "Hz") return with_prefix(value, "Hz");
  if (unit == "watts" || unit == "W") return with_prefix(value, "W");
  if (unit == "joules" || unit == "J") return with_prefix(value, "J");
  if (unit == "volts" || unit == "V") return with_prefix(value, "V");
  if (unit == "flop/s") return with_prefix(value, "FLOP/s");
  if (unit == "flop") return with_prefix(value, "FLOP");
  if (unit == "celsius") return plain_number(value) + " deg C";
  if (unit == "1/s") return plain_number(value) + " /s";
  return plain_number(value) + " " + std::string(unit);
}

std::string format_interval(const trace::Interval& interval, std::string_view unit) {
  std::string low = format_quantity(interval.low, unit);
  const std::string high = format_quantity(interval.high, unit);
  const auto low_space = low.find(' ');
  const auto high_space = high.find(' ');
  if (low_space != std::string::npos && high_space != std::string::npos && low.substr(low_space) == high.substr(high_space))
    low.resize(low_space);
  return low + " - " + high;
}

std::string metric_title(const ReportModel& model, std::string_view id) {
  for (const MetricDefinition& definition : model.definitions)
    if (definition.id == id && !definition.title.empty()) return definition.title;
  std::string title(id);
  for (std::string_view unit : {"_ns", "_bytes", "_ratio", "_hz", "_watts", "_joules", "_celsius", "_per_second"})
    if (title.size() > unit.size() && title.ends_with(unit)) {
      title.resize(title.size() - unit.size());
      break;
    }
  for (char& c : title)
    if (c == '.' || c == '_') c = ' ';
  return title;
}

std::string report_title(const ReportModel& model) {
  if (!model.title.empty()) return model.title;
  std::string title;
  const auto add = [&title](std::string_view before, const core::Json& value) {
    std::string text(value.text());
    if (auto number = value.as_i64()) text = std::to_string(*number);
    if (text.empty()) return;
    if (!title.empty()) title += ", ";
    title.append(before).append(text);
  };
  add("", model.session.outcome["model"]);
  add("", model.session.outcome["provider"]);
  add("batch ", model.session.outcome["batch"]);
  if (!title.empty()) return title;
  return core::trim(model.session.kind + " " + model.session.id.text).empty() ? "session" : std::string(core::trim(model.session.kind + " " + model.session.id.text));
}

}  // namespace aaco::report
