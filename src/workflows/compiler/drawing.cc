#include "workflows/compiler/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analytics/compiler_drawing.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::DrawnBlock;
using analytics::compiler::DrawnRow;
using analytics::compiler::Fate;
using analytics::compiler::node_name;
using analytics::compiler::to_string;
using core::Json;

constexpr std::size_t kMaxNamed = 12;  // operators of a row

// "Conv+Relu" of what became one kernel; "12 Shape, 3 Gather" of what has none.
std::string operators_of(const graph::Graph& before, const DrawnRow& row) {
  std::vector<std::pair<std::string, std::size_t>> counted;
  for (const std::size_t node : row.nodes) {
    const std::string type = before.nodes[node].qualified_type();
    const auto same = std::find_if(counted.begin(), counted.end(), [&](const auto& one) { return one.first == type; });
    if (row.kernels.empty() && same != counted.end())
      ++same->second;
    else
      counted.emplace_back(type, 1);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(counted.size(), kMaxNamed); ++i) {
    text += i == 0 ? "" : row.kernels.empty() ? ", " : "+";
    text += counted[i].second > 1 ? fmt::format("{} {}", counted[i].second, counted[i].first) : counted[i].first;
  }
  return counted.size() > kMaxNamed ? text + fmt::format(" and {} more", counted.size() - kMaxNamed) : text;
}

std::optional<double> time_of(const DrawnRow& row, const CompiledGraph& compiled, const std::optional<KernelTimes>& times) {
  if (!times || row.kernels.empty()) return std::nullopt;
  double sum = 0;
  for (const std::size_t kernel : row.kernels) {
    const auto found = times->by_kernel.find(node_name(compiled.after, kernel));
    if (found == times->by_kernel.end()) return std::nullopt;
    sum += found->second;
  }
  return sum;
}

Json row_json(const graph::Graph& before, const CompiledGraph& compiled, const DrawnRow& row,
              const std::optional<KernelTimes>& times) {
  Json from = Json::array();
  for (const std::size_t place : row.from) from.push(place);
  Json out = Json::object({{"fate", row.nodes.empty() ? std::string_view("inserted") : to_string(row.fate)},
                           {"before", operators_of(before, row)},
                           {"nodes", row.nodes.size()},
                           {"from", std::move(from)}});
  if (!row.nodes.empty()) out.set("node", node_name(before, row.nodes.front()));
  if (!row.kernels.empty()) {
    const auto& kernel = compiled.diff.kernels[row.kernels.front()];
    out.set("after", compiled.after.nodes[row.kernels.front()].qualified_type())
        .set("kernel", node_name(compiled.after, row.kernels.front()));
    if (!kernel.inserted.empty()) out.set("kind", kernel.inserted);
    if (!kernel.precision.empty()) out.set("precision", kernel.precision);
  }
  return out.set_if("time_ns", time_of(row, compiled, times));
}

}  // namespace

Json drawing_json(const graph::Graph& before, const CompiledGraph& compiled, const std::optional<KernelTimes>& times) {
  Json blocks = Json::array();
  for (const DrawnBlock& block : analytics::compiler::draw_folded(before, compiled.after, compiled.diff)) {
    Json rows = Json::array();
    for (const DrawnRow& row : block.rows) rows.push(row_json(before, compiled, row, times));
    blocks.push(Json::object({{"repeats", block.repeats}, {"rows", std::move(rows)}}));
  }
  return blocks;
}

}  // namespace aaco::workflows
