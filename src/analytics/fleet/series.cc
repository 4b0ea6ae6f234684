#include "analytics/fleet/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace aaco::analytics::fleet {
namespace {

// Share of the usual number of minutes that a bin must have: means of parts of a bin differ from those of peers that saw all of
// it.
constexpr double kMinCoverage = 0.9;

// Above this group size the median of all units serves each of them: without one unit or one node it is the same.
constexpr std::size_t kLargeGroup = 64;

double scaled(const Rule& rule, double value) {
  if (rule.scale == Scale::ratio) return std::log(value);
  return rule.scale == Scale::count ? std::sqrt(std::max(0.0, value)) : value;
}

double middle(std::vector<double>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

double usual_minutes(const trace::FleetCells& cells) {
  std::vector<double> minutes;
  for (const trace::FleetCell& cell : cells.cells) minutes.push_back(cell.minutes);
  return minutes.empty() ? 0 : middle(minutes);
}

// The units that are compared with each other in one bin.
class PeerGroup {
 public:
  PeerGroup(const ValueSet& set, const Rule& rule, std::vector<const Value*> members)
      : set_(set), rule_(rule), members_(std::move(members)) {
    std::vector<double> all;
    for (const Value* one : members_) all.push_back(one->value);
    median_ = middle(all);
  }
  [[nodiscard]] bool has_enough() const { return static_cast<int>(members_.size()) > rule_.min_peers; }

  void compare(const Value& one, Point& point) {
    point.bin = one.bin;
    point.value = one.value;
    point.peers = static_cast<std::int32_t>(members_.size()) - 1;
    point.peer_value = members_.size() > kLargeGroup ? median_ : median_without(one, point.peers);
    const double distance = scaled(rule_, point.value) - scaled(rule_, point.peer_value);
    point.residual = rule_.bad == Bad::low ? -distance : distance;
  }

 private:
  // Of the members on other nodes if the metric is one of the node, else of all other members.
  double median_without(const Value& one, std::int32_t& peers) const {
    const auto& own = set_.units[static_cast<std::size_t>(one.unit)];
    std::vector<double> others;
    for (const Value* member : members_)
      if (member->unit != one.unit && (!rule_.of_node || set_.units[static_cast<std::size_t>(member->unit)].node != own.node))
        others.push_back(member->value);
    if (others.empty()) return median_;
    peers = static_cast<std::int32_t>(others.size());
    return middle(others);
  }

  const ValueSet& set_;
  const Rule& rule_;
  std::vector<const Value*> members_;
  double median_ = 0;
};

// Bin, hardware and job of a group; job -2: any job, -1: none.
using GroupKey = std::tuple<std::int32_t, std::string_view, std::int32_t>;

class Grouping {
 public:
  Grouping(const ValueSet& set, const Rule& rule)
      : set_(set),
        rule_(rule),
        jobs_known_(std::any_of(set.values.begin(), set.values.end(), [](const Value& one) { return one.job >= 0; })) {}

  void add_bin(const Value* begin, const Value* end, std::vector<Series>& series) {
    std::map<GroupKey, std::vector<const Value*>> members;
    for (const Value* one = begin; one != end; ++one) {
      const std::string_view hardware = set_.units[static_cast<std::size_t>(one->unit)].hardware;
      const std::int32_t job = rule_.of_node && !rule_.of_job ? -1 : one->job;
      members[{one->bin, hardware, job}].push_back(one);
      if (job >= 0 && !rule_.of_job) members[{one->bin, hardware, -2}].push_back(one);
    }
    std::map<GroupKey, PeerGroup> groups;
    for (auto& [key, list] : members) groups.try_emplace(key, set_, rule_, std::move(list));
    for (const Value* one = begin; one != end; ++one) {
      if (rule_.of_job && jobs_known_ && one->job < 0) continue;
      const std::string_view hardware = set_.units[static_cast<std::size_t>(one->unit)].hardware;
      const std::int32_t job = rule_.of_node && !rule_.of_job ? -1 : one->job;
      PeerGroup* group = &groups.at({one->bin, hardware, job});
      if (!group->has_enough() && job >= 0 && !rule_.of_job) group = &groups.at({one->bin, hardware, -2});
      if (!group->has_enough()) continue;
      Series& into = series[static_cast<std::size_t>(one->unit)];
      if (into.points.empty() && one->job >= 0) into.job = set_.jobs[static_cast<std::size_t>(one->job)];
      group->compare(*one, into.points.emplace_back());
    }
  }

 private:
  const ValueSet& set_;
  const Rule& rule_;
  bool jobs_known_;  // else all are taken for one job
};

// The devices of a node become one unit: the metric's mean over them.
ValueSet by_node(const ValueSet& devices) {
  ValueSet out;
  out.jobs = devices.jobs;
  std::map<std::pair<std::string_view, std::string_view>, std::int32_t> nodes;
  std::vector<std::int32_t> node_of;
  for (const trace::FleetUnit& unit : devices.units) {
    const auto [place, added] = nodes.try_emplace({unit.node, unit.hardware}, static_cast<std::int32_t>(out.units.size()));
    if (added) out.units.push_back({unit.node, -1, unit.hardware});
    node_of.push_back(place->second);
  }
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::pair<double, int>> sums;
  for (const Value& one : devices.values) {
    auto& [sum, count] = sums[{one.bin, node_of[static_cast<std::size_t>(one.unit)], one.job}];
    sum += one.value;
    ++count;
  }
  for (const auto& [key, sum] : sums)
    out.values.push_back({std::get<1>(key), std::get<2>(key), std::get<0>(key), sum.first / sum.second});
  return out;
}

}  // namespace

ValueSet values_of(const trace::FleetCells& cells, const Rule& rule) {
  ValueSet out{cells.units, cells.jobs, {}};
  const std::size_t column = trace::fleet_column(rule.metric);
  if (column == trace::kFleetValues) return out;
  const std::size_t place = trace::place_in_group(column);
  const double minutes_per_bin = static_cast<double>(cells.bin_ns) / 60e9;
  const double enough = kMinCoverage * usual_minutes(cells);
  for (const trace::FleetCell& cell : cells.cells) {
    const auto& measured = cell.values[place];
    if (cell.minutes < enough) continue;
    if (!measured || !std::isfinite(*measured) || (rule.scale == Scale::ratio && *measured <= 0)) continue;
    out.values.push_back({cell.unit, cell.job, cell.bin, rule.scale == Scale::count ? *measured * minutes_per_bin : *measured});
  }
  return rule.of_node ? by_node(out) : out;
}

SeriesSet compare_with_peers(const ValueSet& values, const Rule& rule) {
  std::vector<Value> sorted = values.values;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) { return a.bin < b.bin; });
  SeriesSet out;
  out.series.resize(values.units.size());
  for (std::size_t i = 0; i < values.units.size(); ++i) out.series[i].unit = values.units[i];
  Grouping grouping(values, rule);
  std::set<std::int32_t> units;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end].bin == sorted[begin].bin) units.insert(sorted[end++].unit);
    grouping.add_bin(sorted.data() + begin, sorted.data() + end, out.series);
  }
  std::erase_if(out.series, [](const Series& one) { return one.points.empty(); });
  out.without_peers = static_cast<std::int64_t>(units.size()) - static_cast<std::int64_t>(out.series.size());
  return out;
}

}  // namespace aaco::analytics::fleet
