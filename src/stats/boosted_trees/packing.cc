#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "stats/boosted_trees.h"
#include "stats/boosted_trees/base64.h"

namespace aaco::stats {

using core::ErrorCode;

core::Json BoostedTrees::to_json() const {
  core::Json bases = core::Json::array();
  for (const double base : bases_) bases.push(base);
  const auto bytes = packed_nodes();
  return core::Json::object({{"columns", columns_},
                             {"trees", roots_.size()},
                             {"bases", std::move(bases)},
                             {"nodes", to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()})}});
}

core::Result<BoostedTrees> BoostedTrees::from_json(const core::Json& document) {
  const auto columns = document["columns"].as_i64();
  const auto trees = document["trees"].as_i64();
  if (!columns || !trees || !document["nodes"].is_string() || !document["bases"].is_array() || *columns < 1 || *trees < 0)
    return core::fail(ErrorCode::invalid_input, "packed trees must have columns, trees, bases and nodes");
  std::vector<double> bases;
  for (const core::Json& base : document["bases"].items()) {
    const auto value = base.as_f64();
    if (!value) return core::fail(ErrorCode::invalid_input, "the base score of the trees is not a number");
    bases.push_back(*value);
  }
  AACO_ASSIGN(const std::string bytes, from_base64(document["nodes"].text()));
  auto nodes = std::make_shared<std::vector<std::byte>>(bytes.size());
  std::transform(bytes.begin(), bytes.end(), nodes->begin(), [](char byte) { return static_cast<std::byte>(byte); });
  const std::span<const std::byte> packed(*nodes);
  return in_place(static_cast<std::size_t>(*columns), std::move(bases), static_cast<std::size_t>(*trees), packed,
                  std::move(nodes));
}

}  // namespace aaco::stats
