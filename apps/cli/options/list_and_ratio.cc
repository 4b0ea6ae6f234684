#include "cli/options/list_and_ratio.h"

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (std::string_view part : core::split(text, ',')) out.emplace_back(core::trim(part));
  return out;
}

core::Result<double> parse_threshold(const std::string& text, const std::string& option) {
  const auto threshold = core::parse_ratio(text);
  if (!threshold || *threshold <= 0 || *threshold >= 1)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + option + "': expected a ratio such as 5%");
  return *threshold;
}

}  // namespace aaco::cli
