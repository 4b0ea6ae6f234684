#include <algorithm>
#include <tuple>
#include <utility>

#include "analytics/attribution.h"

namespace aaco::analytics::attribution {
namespace {

using KernelKey = std::tuple<std::int32_t, std::int64_t, std::uint32_t>;  // rank, device, name

struct Wanted {
  std::int64_t count = 0, sum_ns = 0;
  std::vector<NodeShare> shares;
};

// Rows of one kernel that could be of a node: where they are in the result.
struct Open {
  std::vector<std::size_t> without_cause, with_cause;
};

void forget(Coverage& coverage, std::string_view method, std::int64_t sum_ns) {
  (method == to_string(Method::graph_launch)  ? coverage.replayed_sum_ns
   : method == to_string(Method::launch_only) ? coverage.outside_sum_ns
                                              : coverage.unlaunched_sum_ns) -= sum_ns;
}

// Puts the executions of all these rows into the first.
void unite(AttributionResult& result, const std::vector<std::size_t>& rows, const trace::NameTable& names) {
  trace::AttributionRow& first = result.rows[rows.front()];
  Coverage& coverage = result.coverage[{first.rank, first.device}];
  for (std::size_t i = 1; i < rows.size(); ++i) {
    trace::AttributionRow& other = result.rows[rows[i]];
    if (other.method != first.method) {  // counted with the first's from now on
      forget(coverage, names.text(other.method), other.kernel_sum_ns);
      forget(coverage, names.text(first.method), -other.kernel_sum_ns);
    }
    if (other.launch != first.launch) first.launch = {};
    first.kernel_count += other.kernel_count;
    first.kernel_sum_ns += other.kernel_sum_ns;
    other.kernel_count = other.kernel_sum_ns = 0;
  }
}

void move_executions(AttributionResult& result, std::size_t from, trace::NameTable& names, const Wanted& wanted) {
  const trace::AttributionRow before = result.rows[from];
  Coverage& coverage = result.coverage[{before.rank, before.device}];
  if (before.confidence <= 0) {
    coverage.attributed_count += wanted.count;
    coverage.attributed_sum_ns += wanted.sum_ns;
    forget(coverage, names.text(before.method), wanted.sum_ns);
  }
  result.rows[from].kernel_count -= wanted.count;
  result.rows[from].kernel_sum_ns -= wanted.sum_ns;
  for (const NodeShare& share : wanted.shares) {
    trace::AttributionRow row = before;
    row.node_name = share.node_name;
    row.method = names.intern(to_string(share.method));
    row.confidence = share.confidence;
    row.kernel_count = share.kernel_count;
    row.kernel_sum_ns = share.kernel_sum_ns;
    result.rows.push_back(row);
  }
}

}  // namespace

void take_nodes(AttributionResult& result, trace::NameTable& names, std::vector<NodeShare> shares) {
  std::map<KernelKey, Wanted> wanted;
  for (NodeShare& share : shares) {
    Wanted& kernel = wanted[{share.rank, share.device, share.kernel_name.value}];
    kernel.count += share.kernel_count;
    kernel.sum_ns += share.kernel_sum_ns;
    const auto same = std::find_if(kernel.shares.begin(), kernel.shares.end(), [&](const NodeShare& known) {
      return known.node_name == share.node_name && known.method == share.method;
    });
    if (same == kernel.shares.end()) {
      kernel.shares.push_back(share);
      continue;
    }
    const auto weight = [](const NodeShare& of) { return of.confidence * static_cast<double>(of.kernel_count); };
    same->confidence = (weight(*same) + weight(share)) / static_cast<double>(same->kernel_count + share.kernel_count);
    same->kernel_count += share.kernel_count;
    same->kernel_sum_ns += share.kernel_sum_ns;
  }
  std::map<KernelKey, Open> open;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const auto& row = result.rows[i];
    if (row.node_name.value != 0 && row.confidence > 0) continue;
    Open& rows = open[{row.rank, row.device, row.kernel_name.value}];
    (row.confidence > 0 ? rows.with_cause : rows.without_cause).push_back(i);
  }
  for (const auto& [key, kernel] : wanted) {
    const auto found = open.find(key);
    if (found == open.end()) continue;
    const auto holds = [&, &asked = kernel](const std::vector<std::size_t>& rows) {
      std::int64_t count = 0, sum_ns = 0;
      for (const std::size_t row : rows) {
        count += result.rows[row].kernel_count;
        sum_ns += result.rows[row].kernel_sum_ns;
      }
      return count >= asked.count && sum_ns >= asked.sum_ns;
    };
    const auto& [without_cause, with_cause] = found->second;
    if (!without_cause.empty() && holds(without_cause)) {
      unite(result, without_cause, names);
      move_executions(result, without_cause.front(), names, kernel);
    } else if (without_cause.empty() && with_cause.size() == 1 && holds(with_cause)) {
      move_executions(result, with_cause.front(), names, kernel);
    }
  }
  std::erase_if(result.rows, [](const auto& row) { return row.kernel_count == 0; });
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const auto& a, const auto& b) { return a.kernel_sum_ns > b.kernel_sum_ns; });
}

}  // namespace aaco::analytics::attribution
