#include "runner/ort/placement.h"

#include <optional>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::runner::ort {

namespace {

constexpr std::string_view kPlaced = "odes placed on [";
constexpr std::string_view kPlacedSome = "ode(s) placed on [";
constexpr std::string_view kCount = "Number of nodes:";

// "  Conv (conv1)" -> Conv, conv1.
std::optional<PlacedNode> placed_node(std::string_view line) {
  const auto open = line.find(" (");
  const auto first = line.find_first_not_of(' ');
  if (first == 0 || first == std::string_view::npos || open == std::string_view::npos || open <= first || !line.ends_with(')'))
    return std::nullopt;
  const std::string_view op_type = line.substr(first, open - first);
  if (op_type.find(' ') != std::string_view::npos) return std::nullopt;
  return PlacedNode{{}, std::string(op_type), std::string(line.substr(open + 2, line.size() - open - 3))};
}

}  // namespace

std::vector<PlacedNode> placed_nodes_from_log(const std::vector<LogCollector::Line>& lines) {
  std::vector<PlacedNode> nodes;
  std::string provider;
  for (const auto& line : lines)
    for (const std::string_view text : core::split_lines(line.text)) {
      const auto at = text.find(kPlacedSome);
      if (at != std::string_view::npos) {
        const std::string_view rest = text.substr(at + kPlacedSome.size());
        provider = std::string(rest.substr(0, rest.find(']')));
      } else if (auto node = placed_node(text); node && !provider.empty()) {
        node->provider = provider;
        nodes.push_back(std::move(*node));
      } else {
        provider.clear();
      }
    }
  return nodes;
}

std::map<std::string, std::int64_t> placement_from_log(const std::vector<LogCollector::Line>& lines) {
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
