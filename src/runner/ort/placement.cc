#include "runner/ort/placement.h"

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::runner::ort {

std::map<std::string, std::int64_t> placement_from_log(const std::vector<LogCollector::Line>& lines) {
  constexpr std::string_view kPlaced = "odes placed on [";
  constexpr std::string_view kPlacedSome = "ode(s) placed on [";
  constexpr std::string_view kCount = "Number of nodes:";
  std::map<std::string, std::int64_t> counts;
  for (const auto& line : lines) {
    for (std::string_view text : core::split_lines(line.text)) {
      auto at = text.find(kPlaced);
      std::size_t skip = kPlaced.size();
      if (at == std::string_view::npos) {
        at = text.find(kPlacedSome);
        skip = kPlacedSome.size();
      }
      const auto count_at = text.find(kCount);
      if (at == std::string_view::npos || count_at == std::string_view::npos) continue;
      const std::string_view rest = text.substr(at + skip);
      const auto close = rest.find(']');
      const auto words = core::split_words(text.substr(count_at + kCount.size()));
      if (close == std::string_view::npos || words.empty()) continue;
      if (const auto count = core::parse_i64(words[0])) counts[std::string(rest.substr(0, close))] += *count;
    }
  }
  return counts;
}

}  // namespace aaco::runner::ort
