#include "importers/database/sampled_metric.h"

#include <array>

#include "core/strings.h"

namespace aaco::importers {
namespace {

// "SMs Active" is sms_active: letters and digits, and one underscore for all that is between them.
std::string joined_words(std::string_view text) {
  std::string words;
  for (const char c : core::to_lower(text)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept)
      words += c;
    else if (!words.empty() && words.back() != '_')
      words += '_';
  }
  if (!words.empty() && words.back() == '_') words.pop_back();
  return words;
}

struct Unit {
  std::string_view text;
  std::string_view suffix;
  double factor;
};
constexpr std::array<Unit, 13> kUnits = {{{"%", "ratio", 0.01},
                                          {"mhz", "hz", 1e6},
                                          {"hz", "hz", 1},
                                          {"w", "watts", 1},
                                          {"watts", "watts", 1},
                                          {"deg c", "celsius", 1},
                                          {"\xC2\xB0"
                                           "c",
                                           "celsius", 1},
                                          {"c", "celsius", 1},
                                          {"mb", "bytes", 1048576},
                                          {"kb", "bytes", 1024},
                                          {"bytes", "bytes", 1},
                                          {"b", "bytes", 1},
                                          {"ns", "ns", 1}}};

}  // namespace

SampledMetric sampled_metric(std::string_view prefix, std::string_view name, std::string_view unit) {
  std::string words = std::string(prefix) + joined_words(name);
  const std::string lower = core::to_lower(unit);
  for (const Unit& known : kUnits) {
    if (lower != known.text && !(known.text == "%" && lower.ends_with('%'))) continue;
    if (words.ends_with("_clock_frequency")) words.resize(words.size() - std::string_view("_frequency").size());
    return {words + '_' + std::string(known.suffix), known.factor};
  }
  if (const std::string other = joined_words(unit); !other.empty()) words += '_' + other;
  return {words, 1};
}

SampledMetric sampled_metric(std::string_view prefix, std::string_view name) {
  const auto open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return sampled_metric(prefix, name, "");
  return sampled_metric(prefix, name.substr(0, open), name.substr(open + 1, name.size() - open - 2));
}

}  // namespace aaco::importers
