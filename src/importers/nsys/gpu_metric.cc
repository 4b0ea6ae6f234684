#include "importers/nsys/gpu_metric.h"

#include <array>

#include "core/strings.h"

namespace aaco::importers::nsys {
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
constexpr std::array<Unit, 6> kUnits = {{{"%", "_ratio", 0.01},
                                         {"mhz", "_hz", 1e6},
                                         {"hz", "_hz", 1},
                                         {"w", "_watts", 1},
                                         {"bytes", "_bytes", 1},
                                         {"b", "_bytes", 1}}};

}  // namespace

GpuMetric gpu_metric_of(std::string_view name) {
  const auto open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return {"gpu." + joined_words(name), 1};
  std::string words = joined_words(name.substr(0, open));
  const std::string unit = core::to_lower(name.substr(open + 1, name.size() - open - 2));
  for (const Unit& known : kUnits) {
    if (unit != known.text && !(known.text == "%" && unit.ends_with('%'))) continue;
    if (words.ends_with("_clock_frequency")) words.resize(words.size() - std::string_view("_frequency").size());
    return {"gpu." + words + std::string(known.suffix), known.factor};
  }
  return {"gpu." + words + '_' + joined_words(unit), 1};
}

}  // namespace aaco::importers::nsys
