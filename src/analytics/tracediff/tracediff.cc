#include "analytics/tracediff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analytics/tracediff/align.h"
#include "analytics/tracediff/call_change.h"
#include "analytics/tracediff/same_kernel.h"
#include "stats/multiple.h"

namespace aaco::analytics::tracediff {
namespace {

using Tallies = std::map<std::string_view, Tally>;
using Names = std::map<std::string_view, std::string_view>;  // of the right side: the left side's name of the same kernel

// Adds the calls of each step to the tally that `at` gives for a call.
template <class Map, class At>
void tally(const std::vector<Step>& steps, Map& tallies, At at) {
  for (const Step& step : steps) {
    for (const KernelCall& call : step) at(call).add(call.duration_ns);
    for (auto& [key, one] : tallies) one.end_step();
  }
}

Tallies tally(const std::vector<Step>& steps) {
  Tallies tallies;
  tally(steps, tallies, [&](const KernelCall& call) -> Tally& { return tallies[call.name]; });
  return tallies;
}

// By kernel and grid.
using GridKey = std::pair<std::string_view, Grid>;
using GridTallies = std::map<GridKey, Tally>;

GridTallies tally_grids(const std::vector<Step>& steps, const Names& renamed) {
  GridTallies tallies;
  tally(steps, tallies, [&](const KernelCall& call) -> Tally& {
    const auto found = renamed.find(call.name);
    return tallies[{found == renamed.end() ? call.name : found->second, call.grid}];
  });
  return tallies;
}

// The two sides of one row.
template <class Map, class Key>
std::pair<KernelSide, KernelSide> sides_of(const Map& left, const Map& right, const Key& key, const StepCounts& steps) {
  const auto a = left.find(key), b = right.find(key);
  return {a == left.end() ? KernelSide{} : side_of(a->second, steps.a),
          b == right.end() ? KernelSide{} : side_of(b->second, steps.b)};
}

// The grids of a kernel, empty where they cannot be compared: one grid, one that is unknown, or none that both sides have.
std::vector<GridChange> grids_of(std::string_view name, const GridTallies& left, const GridTallies& right,
                                 const StepCounts& steps, const Limits& limits) {
  std::map<Grid, int> sides;
  for (const auto* side : {&left, &right})
    for (auto one = side->lower_bound({name, {}}); one != side->end() && one->first.first == name; ++one)
      ++sides[one->first.second];
  const bool shared = std::any_of(sides.begin(), sides.end(), [](const auto& one) { return one.second == 2; });
  if (sides.size() < 2 || sides.contains(Grid{}) || !shared) return {};
  std::vector<GridChange> grids;
  for (const auto& [grid, count] : sides) {
    GridChange row;
    row.grid = grid;
    std::tie(row.a, row.b) = sides_of(left, right, GridKey{name, grid}, steps);
    fill(row, steps, limits);
    grids.push_back(row);
  }
  std::stable_sort(grids.begin(), grids.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.delta_ns) > std::abs(y.delta_ns); });
  return grids;
}

// Corrects for the number of tests: of each kernel, and of each grid of those that have several.
void judge_calls(std::vector<KernelChange>& kernels, double threshold_ratio) {
  std::vector<CallChange*> tested;
  for (KernelChange& row : kernels) {
    if (row.p_value) tested.push_back(&row);
    for (GridChange& grid : row.grids)
      if (grid.p_value) tested.push_back(&grid);
  }
  std::vector<double> p_values;
  for (const CallChange* row : tested) p_values.push_back(*row->p_value);
  const auto adjusted = stats::holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) judge(*tested[i], adjusted[i], threshold_ratio);
}

// What a row's place in the list goes by, ns of a step.
double weight_of(const KernelChange& row) {
  if (row.change != Change::by_grid) return std::abs(row.delta_ns);
  double sum = 0;
  for (const GridChange& grid : row.grids) sum += std::abs(grid.delta_ns);
  return sum;
}

// The step whose kernel time is the median.
const Step* median_step(const std::vector<Step>& steps) {
  std::vector<std::pair<std::int64_t, const Step*>> by_time;
  for (const Step& step : steps) {
    std::int64_t sum = 0;
    for (const KernelCall& call : step) sum += call.duration_ns;
    by_time.emplace_back(sum, &step);
  }
  if (by_time.empty()) return nullptr;
  const auto middle = by_time.begin() + static_cast<std::ptrdiff_t>((by_time.size() - 1) / 2);
  std::nth_element(by_time.begin(), middle, by_time.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  return middle->second;
}

}  // namespace

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 8> kNames = {"same",   "new",        "gone",       "slower",
                                                      "faster", "more_often", "less_often", "by_grid"};
  return kNames[static_cast<std::size_t>(change)];
}

std::string to_string(const Grid& grid) { return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]); }

std::string_view to_string(CallVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "not significant", "slower", "faster"};
  return kNames[static_cast<std::size_t>(verdict)];
}

namespace {

// Kernels of the right side that are kernels of the left one written another way take the name they have there.
Names take_names(const Tallies& left, Tallies& right) {
  std::set<std::string_view> only_left, only_right;
  for (const auto& [name, one] : left)
    if (!right.contains(name)) only_left.insert(name);
  for (const auto& [name, one] : right)
    if (!left.contains(name)) only_right.insert(name);
  auto renamed = written_otherwise(only_left, only_right);
  for (const auto& [from, to] : renamed) {
    auto node = right.extract(from);
    node.key() = to;
    right.insert(std::move(node));
  }
  return renamed;
}

}  // namespace

TraceDifference compare(const std::vector<Step>& a, const std::vector<Step>& b, double threshold_ratio, double between_ratio) {
  const Tallies left = tally(a);
  Tallies right = tally(b);
  const auto renamed = take_names(left, right);
  const GridTallies left_grids = tally_grids(a, {}), right_grids = tally_grids(b, renamed);
  const StepCounts steps{a.size(), b.size()};
  const Limits limits{threshold_ratio, between_ratio};
  std::set<std::string_view> names;
  for (const auto& [name, one] : left) names.insert(name);
  for (const auto& [name, one] : right) names.insert(name);
  TraceDifference difference;
  for (const std::string_view name : names) {
    KernelChange row;
    row.name = name;
    std::tie(row.a, row.b) = sides_of(left, right, name, steps);
    row.grids = grids_of(name, left_grids, right_grids, steps, limits);
    fill(row, steps, limits);
    if (!row.grids.empty()) fill_from_grids(row, steps, limits);
    difference.delta_ns += row.delta_ns;
    difference.kernels.push_back(std::move(row));
  }
  judge_calls(difference.kernels, threshold_ratio);
  for (KernelChange& row : difference.kernels)
    if (changed_by_grid(row, steps, limits)) row.change = Change::by_grid;
  std::stable_sort(difference.kernels.begin(), difference.kernels.end(),
                   [](const auto& x, const auto& y) { return weight_of(x) > weight_of(y); });
  const Step *first = median_step(a), *second = median_step(b);
  if (first == nullptr || second == nullptr) return difference;
  Step same = *second;
  for (KernelCall& call : same)
    if (const auto found = renamed.find(call.name); found != renamed.end()) call.name = found->second;
  difference.order_complete = align(*first, same, difference.order);
  return difference;
}

}  // namespace aaco::analytics::tracediff
