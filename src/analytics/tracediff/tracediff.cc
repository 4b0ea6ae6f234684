#include "analytics/tracediff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analytics/tracediff/align.h"
#include "analytics/tracediff/same_kernel.h"
#include "stats/distributions.h"
#include "stats/multiple.h"

namespace aaco::analytics::tracediff {
namespace {

struct Tally {
  double calls = 0;
  double sum_ns = 0;
  double mean_ns = 0, call_squares = 0;  // of the calls, by Welford
  double step_ns = 0;                    // of the step under way
  double step_sum = 0, squares = 0;      // of the steps' times, for the deviation
};

using Tallies = std::map<std::string_view, Tally>;

Tallies tally(const std::vector<Step>& steps) {
  Tallies tallies;
  for (const Step& step : steps) {
    for (const KernelCall& call : step) {
      Tally& one = tallies[call.name];
      ++one.calls;
      one.sum_ns += static_cast<double>(call.duration_ns);
      const double off = static_cast<double>(call.duration_ns) - one.mean_ns;
      one.mean_ns += off / one.calls;
      one.call_squares += off * (static_cast<double>(call.duration_ns) - one.mean_ns);
      one.step_ns += static_cast<double>(call.duration_ns);
    }
    for (auto& [name, one] : tallies) {
      one.step_sum += one.step_ns;
      one.squares += one.step_ns * one.step_ns;
      one.step_ns = 0;
    }
  }
  return tallies;
}

KernelSide side_of(const Tallies& tallies, std::string_view name, std::size_t steps) {
  KernelSide side;
  const auto found = tallies.find(name);
  const auto count = static_cast<double>(steps);
  if (found == tallies.end() || steps == 0) return side;
  const Tally& one = found->second;
  side.calls_per_step = one.calls / count;
  side.mean_ns = one.sum_ns / one.calls;
  side.per_step_ns = one.sum_ns / count;
  side.calls = one.calls;
  if (one.calls > 1) side.call_deviation_ns = std::sqrt(std::max(0.0, one.call_squares / (one.calls - 1)));
  if (steps > 1) {
    const double mean = one.step_sum / count;
    side.deviation_ns = std::sqrt(std::max(0.0, (one.squares - count * mean * mean) / (count - 1)));
  }
  return side;
}

// Twice the standard error of the difference of the two steps' times; 0 where it is not known.
double noise_of(const KernelChange& row, std::size_t a_steps, std::size_t b_steps) {
  double variance = 0;
  if (row.a.deviation_ns) variance += *row.a.deviation_ns * *row.a.deviation_ns / static_cast<double>(a_steps);
  if (row.b.deviation_ns) variance += *row.b.deviation_ns * *row.b.deviation_ns / static_cast<double>(b_steps);
  return 2 * std::sqrt(variance);
}

Change change_of(const KernelChange& row, double noise_ns, double threshold_ratio) {
  if (row.a.calls_per_step == 0) return Change::appeared;
  if (row.b.calls_per_step == 0) return Change::gone;
  const double calls = row.b.calls_per_step / row.a.calls_per_step - 1;
  const bool count_leads = std::abs(row.count_part_ns) >= std::abs(row.time_part_ns);
  if (std::abs(calls) > threshold_ratio && count_leads) return calls > 0 ? Change::more_often : Change::less_often;
  const bool matters = std::abs(row.time_part_ns) > threshold_ratio * row.a.per_step_ns && std::abs(row.time_part_ns) > noise_ns;
  if (matters) return row.time_part_ns > 0 ? Change::slower : Change::faster;
  return Change::same;
}

// For equal means; normal, since the calls are many or the deviation between traces leads.
std::optional<double> p_of(const KernelChange& row, double between_ratio) {
  if (!row.a.call_deviation_ns || !row.b.call_deviation_ns) return std::nullopt;
  double variance = 0;
  for (const KernelSide* side : {&row.a, &row.b})
    variance += *side->call_deviation_ns * *side->call_deviation_ns / side->calls +
                between_ratio * side->mean_ns * between_ratio * side->mean_ns;
  const double change = std::abs(row.b.mean_ns - row.a.mean_ns);
  if (!(variance > 0)) return change > 0 ? 0.0 : 1.0;
  return 2 * stats::normal_cdf(-change / std::sqrt(variance));
}

void judge_calls(std::vector<KernelChange>& kernels, double threshold_ratio) {
  std::vector<double> p_values;
  for (const KernelChange& row : kernels)
    if (row.p_value) p_values.push_back(*row.p_value);
  const auto adjusted = stats::holm_adjusted(p_values);
  std::size_t next = 0;
  for (KernelChange& row : kernels) {
    if (!row.p_value) continue;
    row.p_holm = adjusted[next++];
    const double change = row.b.mean_ns - row.a.mean_ns;
    const bool moved = *row.p_holm <= kCallLevel && std::abs(change) > threshold_ratio * row.a.mean_ns;
    row.verdict = !moved ? CallVerdict::not_significant : change > 0 ? CallVerdict::slower : CallVerdict::faster;
  }
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
  constexpr std::array<std::string_view, 7> kNames = {"same", "new", "gone", "slower", "faster", "more_often", "less_often"};
  return kNames[static_cast<std::size_t>(change)];
}

std::string_view to_string(CallVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "not significant", "slower", "faster"};
  return kNames[static_cast<std::size_t>(verdict)];
}

namespace {

// Kernels of the right side that are kernels of the left one written another way take the name they have there.
std::map<std::string_view, std::string_view> take_names(const Tallies& left, Tallies& right) {
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
  std::map<std::string_view, int> names;
  for (const auto& [name, one] : left) names[name] = 1;
  for (const auto& [name, one] : right) names[name] = 1;
  TraceDifference difference;
  for (const auto& [name, unused] : names) {
    KernelChange row;
    row.name = name;
    row.a = side_of(left, name, a.size());
    row.b = side_of(right, name, b.size());
    row.delta_ns = row.b.per_step_ns - row.a.per_step_ns;
    // A side without calls has no time a call: the whole difference is one of count.
    const bool both = row.a.calls_per_step > 0 && row.b.calls_per_step > 0;
    row.time_part_ns = both ? (row.b.mean_ns - row.a.mean_ns) * (row.a.calls_per_step + row.b.calls_per_step) / 2 : 0;
    row.count_part_ns = row.delta_ns - row.time_part_ns;
    row.change = change_of(row, noise_of(row, a.size(), b.size()), threshold_ratio);
    row.p_value = p_of(row, between_ratio);
    difference.delta_ns += row.delta_ns;
    difference.kernels.push_back(std::move(row));
  }
  judge_calls(difference.kernels, threshold_ratio);
  std::stable_sort(difference.kernels.begin(), difference.kernels.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.delta_ns) > std::abs(y.delta_ns); });
  const Step *first = median_step(a), *second = median_step(b);
  if (first == nullptr || second == nullptr) return difference;
  Step same = *second;
  for (KernelCall& call : same)
    if (const auto found = renamed.find(call.name); found != renamed.end()) call.name = found->second;
  difference.order_complete = align(*first, same, difference.order);
  return difference;
}

}  // namespace aaco::analytics::tracediff
