#include "report/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::report {
namespace {

constexpr std::size_t kLongestUnit = 24;
constexpr double kMinRatio = 5e-5;  // smaller ones would be written as 0.00 %

using Step = std::pair<double, std::string_view>;  // the factor, the unit or prefix

// The unit that SI prefixes go to, or empty for a unit that takes none.
std::string_view prefixed_unit(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kUnits = {{{"hz", "Hz"},
                                                                                     {"Hz", "Hz"},
                                                                                     {"watts", "W"},
                                                                                     {"W", "W"},
                                                                                     {"joules", "J"},
                                                                                     {"J", "J"},
                                                                                     {"volts", "V"},
                                                                                     {"V", "V"},
                                                                                     {"flop/s", "FLOP/s"},
                                                                                     {"flop", "FLOP"},
                                                                                     {"bytes/s", "B/s"}}};
  for (auto [name, shown] : kUnits)
    if (name == unit) return shown;
  return {};
}

UnitScale with_prefix(double size, std::string_view unit) {
  constexpr std::array<Step, 5> kUp = {{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  constexpr std::array<Step, 3> kDown = {{{1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
  for (auto [factor, prefix] : kUp)
    if (size >= factor * 0.9995) return {factor, std::string(prefix) + std::string(unit)};
  if (size >= 0.9995 || size == 0) return {1, std::string(unit)};
  for (auto [factor, prefix] : kDown)
    if (size >= factor * 0.9995) return {factor, std::string(prefix) + std::string(unit)};
  return {1, std::string(unit)};
}

// The largest step that leaves at least one digit before the point.
template <std::size_t N>
UnitScale largest_step(double size, const std::array<Step, N>& steps) {
  for (auto [factor, unit] : steps)
    if (size >= factor * 0.9995) return {factor, std::string(unit)};
  return {steps.back().first, std::string(steps.back().second)};
}

// About three significant digits, never in exponent form for what people meet in practice.
std::string plain_number(double value) {
  const double size = std::abs(value);
  if (value == std::trunc(value) && size < 1e7) return core::format_count(value);
  if (size != 0 && (size < 1e-3 || size >= 1e10)) return fmt::format("{:.3g}", value);
  return group_digits(value, size >= 99.95                  ? 0
                             : size >= 9.995                ? 1
                             : size >= 0.9995               ? 2
                             : size >= 0.09995 || size == 0 ? 3
                             : size >= 0.009995             ? 4
                                                            : 5);
}

}  // namespace

UnitScale scale_for(double magnitude, std::string_view unit) {
  constexpr std::array<Step, 6> kDuration = {{{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  constexpr std::array<Step, 5> kBytes = {
      {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}}};
  const double size = std::abs(magnitude);
  if (unit == "ns")
    return size >= 60e9 && size < 120e9      ? UnitScale{1e9, "s"}
           : size >= 3600e9 && size < 7200e9 ? UnitScale{60e9, "min"}
                                             : largest_step(size, kDuration);
  if (unit == "bytes") return largest_step(size, kBytes);
  if (unit == "ratio") return {0.01, "%"};
  if (unit == "count") return size >= 1e10 ? UnitScale{1e9, "G"} : size >= 1e7 ? UnitScale{1e6, "M"} : UnitScale{};
  if (unit == "celsius") return {1, "deg C"};
  if (unit == "1/s") return {1, "/s"};
  if (unit == "price") return {};  // its currency is not known
  if (const std::string_view shown = prefixed_unit(unit); !shown.empty()) return with_prefix(size, shown);
  return {1, std::string(unit.substr(0, kLongestUnit))};
}

std::string unit_of_metric(std::string_view id, std::string_view unit) {
  constexpr std::string_view kRate = "_per_second";
  if (unit != "1/s" || !id.ends_with(kRate)) return std::string(unit);
  id.remove_suffix(kRate.size());
  const std::string_view what = id.substr(id.find_last_of("._") + 1);
  const bool nothing = what.empty() || what == "rate";  // a launch.rate_per_second is of launches, not of rates
  return nothing ? std::string(unit) : std::string(what) + "/s";
}

std::string group_digits(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  for (std::size_t at = std::min(text.find('.'), text.size()); at > 3; at -= 3) text.insert(at - 3, ",");
  return (value < 0 && !zero ? "-" : "") + text;
}

std::string format_quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "not a number";
  if (unit == "ns") return core::replace_all(core::format_duration(value), "\u00B5", "u");
  if (unit == "bytes") return core::format_bytes(value);
  if (unit == "ratio" && value != 0 && std::abs(value) < kMinRatio) return value > 0 ? "<0.01 %" : ">-0.01 %";
  if (unit == "ratio") return core::format_percent(value);
  if (unit == "count" && value == std::trunc(value)) return core::format_count(value);
  const UnitScale scale = scale_for(value, unit);
  return plain_number(value / scale.factor) + (scale.unit.empty() ? "" : " " + scale.unit);
}

std::string format_interval(const trace::Interval& interval, std::string_view unit) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "not a number";
  const UnitScale scale = scale_for(std::max(std::abs(interval.low), std::abs(interval.high)), unit);
  const double low = interval.low / scale.factor, high = interval.high / scale.factor;
  const bool whole = low == std::trunc(low) && high == std::trunc(high);
  const double width = std::abs(high - low);
  const int decimals = whole ? 0 : width > 0 ? static_cast<int>(std::clamp(std::ceil(0.7 - std::log10(width)), 0.0, 4.0)) : 2;
  int low_decimals = decimals;  // what lies above zero is not written as one
  while (low > 0 && low_decimals < 4 && low < 0.5 * std::pow(10, -low_decimals)) ++low_decimals;
  return group_digits(low, low_decimals) + " - " + group_digits(high, decimals) + (scale.unit.empty() ? "" : " " + scale.unit);
}

std::string with_micro_signs(std::string text) {
  constexpr std::array<std::string_view, 3> kUnits = {" us", " uJ", " uW"};
  for (const std::string_view unit : kUnits)
    for (std::size_t at = text.find(unit, 1); at != std::string::npos; at = text.find(unit, at + unit.size())) {
      const std::size_t end = at + unit.size();
      const bool number = std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
      const bool whole = end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
      if (number && whole) text.replace(at + 1, 1, "\u00B5");
    }
  return text;
}

std::string typographic(std::string text) {
  text = core::replace_all(std::move(text), " - ", " \u2013 ");
  text = with_micro_signs(core::replace_all(std::move(text), "+/-", "\u00B1"));
  if (text.ends_with(" deg C")) text.replace(text.size() - 5, 4, "\u00B0");
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return core::replace_all(std::move(text), " \u2013 -", " \u2013 \u2212");
}

constexpr double kWidestHalf = 1;  // beyond it a share of the value says nothing that the interval does not

std::string half_width_text(const trace::MetricValue& metric) {
  if (!metric.ci95 || metric.value == 0) return {};
  const double half = (metric.ci95->high - metric.ci95->low) / 2 / std::abs(metric.value);
  return half > kWidestHalf ? std::string() : " +/- " + format_quantity(half, "ratio");
}

std::string format_estimate(double ratio) {
  if (ratio >= 0.995 && ratio < 1) return "> 99 %";
  return group_digits(ratio * 100, std::abs(ratio) < 0.0995 ? 1 : 0) + " %";
}

std::string gain_text(double ratio, std::string_view of, const std::optional<trace::Interval>& interval) {
  std::string text = format_estimate(ratio) + " of " + std::string(of.empty() ? "the latency" : of);
  if (!interval) return text;
  const std::string low = interval->low > 0 ? format_estimate(interval->low) : "0";
  return text + " (" + low + " to " + format_estimate(interval->high) + ")";
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
  for (std::size_t i = 0; i < title.size(); ++i) {
    if (title[i] == '.' || title[i] == '_') title[i] = ' ';
    const bool starts_word = i == 0 || title[i - 1] == ' ';
    const bool quantile = title[i] == 'p' && i + 1 < title.size() && title[i + 1] >= '0' && title[i + 1] <= '9';
    if (i == 0 || (starts_word && quantile)) title[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[i])));
  }
  return title;
}

std::string_view call_of(const ReportModel& model) {
  return model.sections.llm ? "request" : model.sections.decoder ? "generation" : "iteration";
}

std::string report_title(const ReportModel& model) {
  if (!model.title.empty()) return model.title;
  std::vector<std::string> words;
  const auto add = [&words](std::string_view before, const core::Json& value) {
    const std::string text = value.as_i64() ? std::to_string(*value.as_i64()) : std::string(value.text());
    if (!text.empty()) words.push_back(std::string(before) + text);
  };
  add("", core::Json(model.session.outcome.model));
  add("", core::Json(model.session.outcome.provider));
  if (const auto& requested = model.session.outcome.requested_provider; !requested.empty())
    add("requested ", core::Json(requested));
  add("batch ", core::Json(model.session.outcome.batch));
  if (!words.empty()) return core::join(words, ", ");
  const std::string name = model.session.kind + " " + model.session.id.text;
  return core::trim(name).empty() ? "session" : std::string(core::trim(name));
}

}  // namespace aaco::report
