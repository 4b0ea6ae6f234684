#include "analytics/node_time.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analytics/metrics/node_sweep.h"
#include "analytics/metrics/running_mean.h"

namespace aaco::analytics::metrics {
namespace {

using trace::IterationRow;
using trace::NodeExecutionRow;

using IterationKey = std::pair<std::int32_t, std::int64_t>;  // rank, number

struct ProfiledIteration {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<const NodeExecutionRow*> executions;
};

using ProfiledIterations = std::map<IterationKey, ProfiledIteration>;

ProfiledIterations iterations_of_pass(std::span<const IterationRow> iterations, const trace::NameTable& names) {
  for (const std::string_view phase : {"profile", "step"}) {
    ProfiledIterations found;
    for (const IterationRow& row : iterations)
      if (names.text(row.phase) == phase && row.duration_ns > 0)
        found[{row.rank, row.iteration}] = {row.start_ns, row.start_ns + row.duration_ns, {}};
    if (!found.empty()) return found;
  }
  return {};
}

// Joins; answers how many executions belong nowhere.
std::int64_t assign(ProfiledIterations& iterations, std::span<const NodeExecutionRow> executions) {
  std::int64_t unmatched = 0;
  for (const NodeExecutionRow& row : executions) {
    const auto found = iterations.find({row.rank, row.iteration});
    const bool inside = found != iterations.end() && row.duration_ns >= 0 && row.start_ns < found->second.end_ns &&
                        row.start_ns + row.duration_ns >= found->second.start_ns;
    if (inside) {
      found->second.executions.push_back(&row);
    } else {
      ++unmatched;
    }
  }
  std::erase_if(iterations, [](const auto& item) { return item.second.executions.empty(); });
  return unmatched;
}

// One operator type or node while iterations are added.
struct Entry {
  NodeShare share;
  RunningMean time;
  double current_ns = 0;  // in the iteration under way
  bool touched = false;
  double duration_sum_ns = 0;
  double executions = 0;
};

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;  // name, operator, provider, index

// The entries of one kind, added to iteration by iteration.
class Tally {
 public:
  Entry& entry(const Key& key, const NodeShare& fresh) {
    const auto [place, is_new] = index_.try_emplace(key, entries_.size());
    if (is_new) entries_.push_back({fresh, {}, 0, false, 0, 0});
    return entries_[place->second];
  }
  void add(Entry& entry, double own_ns, double duration_ns) {
    if (!entry.touched) touched_.push_back(static_cast<std::size_t>(&entry - entries_.data()));
    entry.touched = true;
    entry.current_ns += own_ns;
    entry.duration_sum_ns += duration_ns;
    entry.executions += 1;
  }
  void end_iteration() {
    for (const std::size_t index : touched_) {
      Entry& entry = entries_[index];
      entry.time.add(entry.current_ns);
      entry.current_ns = 0;
      entry.touched = false;
    }
    touched_.clear();
  }
  std::vector<NodeShare> finish(std::int64_t iterations, double whole_ns) {
    std::vector<NodeShare> shares;
    for (Entry& entry : entries_) {
      entry.share.time = entry.time.estimate(iterations);
      entry.share.share_ratio = whole_ns > 0 ? entry.share.time.mean_ns / whole_ns : 0;
      entry.share.duration_sum_ns = entry.duration_sum_ns / static_cast<double>(iterations);
      entry.share.executions = entry.executions / static_cast<double>(iterations);
      shares.push_back(entry.share);
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const NodeShare& a, const NodeShare& b) { return a.time.mean_ns > b.time.mean_ns; });
    return shares;
  }

 private:
  std::map<Key, std::size_t> index_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> touched_;
};

struct Totals {
  RunningMean whole, in_nodes, between_nodes, around_nodes, remainder;
  std::vector<std::pair<double, double>> remainder_and_whole;  // one an iteration
  double executions = 0;
};

void add_share(Tally& operators, Tally& nodes, const NodeExecutionRow& row, double own_ns) {
  NodeShare by_type;
  by_type.op_type = row.op_type;
  by_type.provider = row.provider;
  NodeShare by_node = by_type;
  by_node.node_name = row.node_name;
  by_node.node_index = row.node_index;
  by_node.input_shapes = row.input_shapes;
  by_node.output_shapes = row.output_shapes;
  const double duration = static_cast<double>(row.duration_ns);
  operators.add(operators.entry({0, row.op_type.value, row.provider.value, -1}, by_type), own_ns, duration);
  nodes.add(nodes.entry({row.node_name.value, row.op_type.value, row.provider.value, row.node_index}, by_node), own_ns, duration);
}

void add_iteration(const ProfiledIteration& iteration, Totals& totals, Tally& operators, Tally& nodes) {
  std::vector<NodeInterval> intervals;
  std::vector<const NodeExecutionRow*> owners;
  for (const NodeExecutionRow* row : iteration.executions) {
    const std::int64_t start = std::max(row->start_ns, iteration.start_ns);
    const std::int64_t end = std::min(row->start_ns + row->duration_ns, iteration.end_ns);
    if (end > start) {
      intervals.push_back({start, end, row->thread_id});
      owners.push_back(row);
    } else {
      add_share(operators, nodes, *row, 0);
    }
  }
  const double whole = static_cast<double>(iteration.end_ns - iteration.start_ns);
  double in_nodes = 0, span = 0;
  if (!intervals.empty()) {
    const SweptTime swept = sweep(intervals);
    for (std::size_t i = 0; i < owners.size(); ++i) add_share(operators, nodes, *owners[i], swept.own_ns[i]);
    in_nodes = static_cast<double>(swept.union_ns);
    span = static_cast<double>(swept.last_ns - swept.first_ns);
  }
  operators.end_iteration();
  nodes.end_iteration();
  totals.whole.add(whole);
  totals.in_nodes.add(in_nodes);
  totals.between_nodes.add(span - in_nodes);
  totals.around_nodes.add(whole - span);
  totals.remainder.add(whole - in_nodes);
  totals.remainder_and_whole.emplace_back(whole - in_nodes, whole);
  totals.executions += static_cast<double>(iteration.executions.size());
}

// Ratio of the means with the interval of the linearised ratio (Cochran, Sampling Techniques, section 6.5).
trace::MetricValue remainder_ratio(const Totals& totals, std::int64_t iterations) {
  const double whole = totals.whole.mean(iterations);
  const double ratio = totals.remainder.mean(iterations) / whole;
  trace::MetricValue metric{"node.remainder_ratio", ratio, "ratio", {}, {}};
  RunningMean residual;
  for (const auto& [remainder, duration] : totals.remainder_and_whole) residual.add((remainder - ratio * duration) / whole);
  if (const auto interval = residual.estimate(iterations).ci95)
    metric.ci95 = trace::Interval{ratio + interval->low, ratio + interval->high};
  return metric;
}

trace::Metrics published(const NodeTime& result, const Totals& totals) {
  const auto time = [](const char* id, const IterationTime& value) {
    return trace::MetricValue{id, value.mean_ns, "ns", value.ci95, {}};
  };
  return {time("node.compute_ns", result.parts->in_nodes),
          time("node.remainder_ns", totals.remainder.estimate(result.iterations)),
          remainder_ratio(totals, result.iterations),
          time("node.between_ns", result.parts->between_nodes),
          time("node.around_ns", result.parts->around_nodes),
          {"node.execution_count", totals.executions / static_cast<double>(result.iterations), "count", {}, {}}};
}

}  // namespace

NodeTime node_time(std::span<const IterationRow> iterations, std::span<const NodeExecutionRow> executions,
                   const trace::NameTable& names) {
  ProfiledIterations pass = iterations_of_pass(iterations, names);
  NodeTime result;
  result.unmatched_executions = assign(pass, executions);
  result.iterations = static_cast<std::int64_t>(pass.size());
  if (pass.empty()) return result;
  Totals totals;
  Tally operators, nodes;
  for (const auto& [key, iteration] : pass) add_iteration(iteration, totals, operators, nodes);
  const std::int64_t count = result.iterations;
  result.parts = IterationParts{totals.whole.estimate(count), totals.in_nodes.estimate(count),
                                totals.between_nodes.estimate(count), totals.around_nodes.estimate(count)};
  result.operators = operators.finish(count, result.parts->whole.mean_ns);
  result.nodes = nodes.finish(count, result.parts->whole.mean_ns);
  result.metrics = published(result, totals);
  return result;
}

}  // namespace aaco::analytics::metrics
