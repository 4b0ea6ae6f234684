#include "analytics/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/check.h"
#include "core/random.h"
#include "stats/order_statistics.h"
#include "stats/summary.h"

namespace aaco::analytics::roofline {
namespace {

constexpr double kNever = INFINITY;  // a roof that limits nothing
constexpr int kMaxSteps = 30;

// The work of a problem, as logarithms of rates, with the roofs it may lie under: compute roof `compute`, memory roof `memory`.
struct Rate {
  double flops = -INFINITY, bytes = -INFINITY;
  std::size_t compute = 0, memory = 0, run = 0;
  double weight = 0;  // its part of its run's time
};

bool usable(const EnvelopePoint& point) {
  return std::isfinite(point.flops) && std::isfinite(point.bytes) && std::isfinite(point.time_ns) && point.time_ns > 0 &&
         point.flops >= 0 && point.bytes >= 0 && point.flops + point.bytes > 0;
}

// Heights of all roofs, compute before memory, as logarithms.
using Heights = std::vector<double>;

class Problem {
 public:
  Problem(const std::vector<EnvelopePoint>& points, std::size_t types, std::size_t levels, double quantile)
      : types_(types), roofs_(types + levels), quantile_(quantile) {
    std::vector<double> time;
    std::vector<std::size_t> number;  // of a run among those that have work
    for (const EnvelopePoint& point : points) {
      AACO_CHECK(point.type < types && point.level < levels);
      if (!usable(point)) continue;
      if (point.run >= number.size()) number.resize(point.run + 1, SIZE_MAX);
      if (number[point.run] == SIZE_MAX) {
        number[point.run] = time.size();
        time.push_back(0);
      }
      time[number[point.run]] += point.time_ns;
      rates_.push_back({std::log(point.flops / point.time_ns * 1e9), std::log(point.bytes / point.time_ns * 1e9), point.type,
                        types + point.level, number[point.run], point.time_ns});
    }
    for (Rate& rate : rates_) rate.weight /= time[rate.run];
    runs_ = time.size();
    by_flops_ = sorted([](const Rate& rate) { return rate.flops; });
    by_bytes_ = sorted([](const Rate& rate) { return rate.bytes; });
  }

  [[nodiscard]] const std::vector<Rate>& rates() const { return rates_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }
  [[nodiscard]] std::size_t roofs() const { return roofs_; }
  [[nodiscard]] bool is_compute(std::size_t roof) const { return roof < types_; }
  [[nodiscard]] double height_of(const Rate& rate, std::size_t roof) const { return is_compute(roof) ? rate.flops : rate.bytes; }

  // The roof that limits the rate first.
  [[nodiscard]] std::size_t limit_of(const Rate& rate, const Heights& heights) const {
    if (!std::isfinite(rate.bytes)) return rate.compute;
    return rate.flops - heights[rate.compute] > rate.bytes - heights[rate.memory] ? rate.compute : rate.memory;
  }
  [[nodiscard]] double residual(const Rate& rate, const Heights& heights) const {
    return std::max(rate.flops - heights[rate.compute], rate.bytes - heights[rate.memory]);
  }
  // Infinite where nothing limits the work: that is no envelope.
  [[nodiscard]] double loss(const Rate& rate, const Heights& heights) const {
    const double over = residual(rate, heights);
    return rate.weight * (over > 0 ? quantile_ * over : (quantile_ - 1) * over);
  }
  [[nodiscard]] double loss(const Heights& heights) const {
    double sum = 0;
    for (const Rate& rate : rates_) sum += loss(rate, heights);
    return sum;
  }

  // Puts every roof to the quantile of what it limits, until that stays the same. Roofs that are left out stay so.
  // `times`: how often each run counts.
  void improve(Heights& heights, const std::vector<double>& times) const {
    for (int step = 0; step < kMaxSteps; ++step) {
      std::vector<std::size_t> limit(rates_.size());
      std::vector<double> total(roofs_, 0);
      for (std::size_t i = 0; i < rates_.size(); ++i) {
        limit[i] = limit_of(rates_[i], heights);
        total[limit[i]] += rates_[i].weight * times[rates_[i].run];
      }
      Heights next = heights;
      for (const auto* order : {&by_flops_, &by_bytes_}) {
        std::vector<double> passed(roofs_, 0);
        for (const std::size_t i : *order) {
          const std::size_t roof = limit[i];
          if (is_compute(roof) != (order == &by_flops_) || heights[roof] == kNever) continue;
          const double before = passed[roof], wanted = quantile_ * total[roof];
          passed[roof] += rates_[i].weight * times[rates_[i].run];
          if (before < wanted && passed[roof] >= wanted) next[roof] = height_of(rates_[i], roof);
        }
      }
      if (next == heights) return;
      heights = std::move(next);
    }
  }

  // The quantile of all that could lie under the roof.
  [[nodiscard]] double quantile_of(std::size_t roof, double probability) const {
    const auto& order = is_compute(roof) ? by_flops_ : by_bytes_;
    double total = 0, passed = 0, height = kNever;
    const auto counts = [&](const Rate& rate) {
      return (is_compute(roof) ? rate.compute : rate.memory) == roof && std::isfinite(height_of(rate, roof));
    };
    for (const Rate& rate : rates_)
      if (counts(rate)) total += rate.weight;
    for (const std::size_t i : order) {
      if (!counts(rates_[i])) continue;
      height = height_of(rates_[i], roof);
      passed += rates_[i].weight;
      if (passed >= probability * total) break;
    }
    return height;
  }

 private:
  template <class Key>
  [[nodiscard]] std::vector<std::size_t> sorted(Key key) const {
    std::vector<std::size_t> order(rates_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(rates_[a]) < key(rates_[b]); });
    return order;
  }

  std::size_t types_, roofs_, runs_ = 0;
  double quantile_;
  std::vector<Rate> rates_;
  std::vector<std::size_t> by_flops_, by_bytes_;
};

// The least loss over several beginnings: the loss has more than one valley.
Heights best_heights(const Problem& problem) {
  constexpr double kBeginnings[] = {0.25, 0.5, 0.75, 0.9, 0.97, 1};
  const std::vector<double> once(problem.runs(), 1);
  Heights best(problem.roofs(), kNever);
  double least = kNever;
  for (const double compute : kBeginnings)
    for (const double memory : kBeginnings) {
      Heights heights(problem.roofs(), kNever);
      for (std::size_t roof = 0; roof < heights.size(); ++roof)
        heights[roof] = problem.quantile_of(roof, problem.is_compute(roof) ? compute : memory);
      problem.improve(heights, once);
      const double loss = problem.loss(heights);
      if (!(loss < least)) continue;
      least = loss;
      best = std::move(heights);
    }
  return best;
}

// How much better the roof explains the work that it limits than the others would without it, as a Schwarz criterion: the gain in
// the logarithm of that work's loss, less what chance gives one parameter over so many runs. `without`: the best heights without
// it.
double worth(const Problem& problem, const Heights& heights, std::size_t roof, const Heights& without) {
  double own = 0;
  std::set<std::size_t> runs;
  for (const Rate& rate : problem.rates()) {
    if (problem.limit_of(rate, heights) != roof) continue;
    own += problem.loss(rate, heights);
    runs.insert(rate.run);
  }
  if (runs.empty()) return -kNever;
  const double lost = problem.loss(without) - problem.loss(heights);
  const auto count = static_cast<double>(std::max<std::size_t>(runs.size(), 3));  // below e the penalty falls again
  const double gain = own > 0 ? std::log1p(lost / own) : lost > 0 ? kNever : 0;
  return gain - std::log(count) / (2 * count);
}

// Leaves out, one after another, the roofs that the runs do not show.
Heights without_idle_roofs(const Problem& problem, Heights heights) {
  const std::vector<double> once(problem.runs(), 1);
  for (;;) {
    double least = 0;
    std::optional<Heights> better;
    for (std::size_t roof = 0; roof < heights.size(); ++roof) {
      if (heights[roof] == kNever) continue;
      Heights without = heights;
      without[roof] = kNever;
      problem.improve(without, once);
      if (const double value = worth(problem, heights, roof, without); value < least) {
        least = value;
        better = std::move(without);
      }
    }
    if (!better) return heights;
    heights = *std::move(better);
  }
}

struct Under {
  std::set<std::size_t> runs;
  std::size_t points = 0;
  double weights = 0, squares = 0;
  void add(const Rate& rate) {
    runs.insert(rate.run);
    ++points;
    weights += rate.weight;
    squares += rate.weight * rate.weight;
  }
};

void describe(const Problem& problem, const Heights& heights, std::size_t roof, double quantile, ReachedRoof& out) {
  Under under, all;
  for (const Rate& rate : problem.rates()) {
    if ((problem.is_compute(roof) ? rate.compute : rate.memory) != roof) continue;
    const double height = problem.height_of(rate, roof);
    if (!std::isfinite(height)) continue;
    out.highest = std::max(out.highest, std::exp(height));
    all.add(rate);
    if (heights[roof] < kNever && problem.limit_of(rate, heights) == roof) under.add(rate);
  }
  const bool reached = under.points > 0;
  const Under& told = reached ? under : all;
  out.runs = told.runs.size();
  out.points = told.points;
  out.effective_points = told.squares > 0 ? told.weights * told.weights / told.squares : 0;
  const auto needed = static_cast<double>(stats::stated_count(quantile));
  if (all.points == 0)
    out.reason = "no run has this kind of work";
  else if (all.runs.size() < kMinEnvelopeRuns)
    out.reason = fmt::format("only {} run{} this kind of work; an interval needs at least {}", all.runs.size(),
                             all.runs.size() == 1 ? " has" : "s have", kMinEnvelopeRuns);
  else if (!reached)
    out.reason = "not observed: all work in the runs is limited by other roofs";
  else if (out.runs < kMinEnvelopeRuns)
    out.reason = fmt::format("only {} run{} limited by this roof; an interval needs at least {}", out.runs,
                             out.runs == 1 ? "" : "s", kMinEnvelopeRuns);
  else if (out.effective_points < needed)
    out.reason = fmt::format("{} points with an effective sample size of {:.0f}; the {:g} % quantile needs at least {:.0f}",
                             out.points, out.effective_points, 100 * quantile, needed);
  else
    out.per_second = std::exp(heights[roof]);
}

// Percentiles over resampled runs, around the fit, stretched for small numbers of runs (Hesterberg, What Teachers Should Know
// about the Bootstrap, 2015).
std::vector<stats::Interval> intervals(const Problem& problem, const Heights& heights, const EnvelopeOptions& options) {
  core::Random random(options.seed);
  const auto runs = static_cast<double>(problem.runs());
  const double stretch = std::sqrt(runs / (runs - 1));
  std::vector<std::vector<double>> deviations(heights.size());
  for (int replicate = 0; replicate < options.replicates; ++replicate) {
    std::vector<double> times(problem.runs(), 0);
    for (std::size_t i = 0; i < times.size(); ++i) ++times[random.below(times.size())];
    Heights again = heights;
    problem.improve(again, times);
    for (std::size_t roof = 0; roof < heights.size(); ++roof)
      if (heights[roof] < kNever) deviations[roof].push_back(again[roof] - heights[roof]);
  }
  std::vector<stats::Interval> out(heights.size());
  for (std::size_t roof = 0; roof < heights.size(); ++roof) {
    auto& list = deviations[roof];
    if (list.empty()) continue;
    std::sort(list.begin(), list.end());
    out[roof] = {std::exp(heights[roof] + stretch * stats::quantile_of_sorted(list, 0.025)),
                 std::exp(heights[roof] + stretch * stats::quantile_of_sorted(list, 0.975))};
  }
  return out;
}

}  // namespace

bool Envelope::fitted() const {
  const auto has = [](const ReachedRoof& roof) { return roof.per_second.has_value(); };
  return std::any_of(compute.begin(), compute.end(), has) || std::any_of(memory.begin(), memory.end(), has);
}

Envelope fit_envelope(const std::vector<EnvelopePoint>& points, std::size_t types, std::size_t levels,
                      const EnvelopeOptions& options) {
  AACO_CHECK(options.quantile >= 0.5 && options.quantile <= 0.999 && options.replicates > 0);
  const Problem problem(points, types, levels, options.quantile);
  Envelope envelope;
  envelope.compute.resize(types);
  envelope.memory.resize(levels);
  envelope.runs = problem.runs();
  envelope.points = problem.rates().size();
  const auto roof_of = [&](std::size_t roof) -> ReachedRoof& {
    return roof < types ? envelope.compute[roof] : envelope.memory[roof - types];
  };
  Heights heights(problem.roofs(), kNever);
  if (problem.runs() > 0) heights = without_idle_roofs(problem, best_heights(problem));
  for (std::size_t roof = 0; roof < heights.size(); ++roof) describe(problem, heights, roof, options.quantile, roof_of(roof));
  if (!envelope.fitted()) return envelope;
  const auto around = intervals(problem, heights, options);
  for (std::size_t roof = 0; roof < heights.size(); ++roof)
    if (roof_of(roof).per_second) roof_of(roof).ci95 = around[roof];
  for (const Rate& rate : problem.rates())
    if (problem.residual(rate, heights) > 0) envelope.above_ratio += rate.weight / static_cast<double>(problem.runs());
  return envelope;
}

std::vector<HullCorner> upper_hull(const std::vector<EnvelopePoint>& points, std::size_t type) {
  std::vector<std::pair<double, double>> corners;
  for (const EnvelopePoint& point : points)
    if (usable(point) && point.type == type && point.flops > 0 && point.bytes > 0)
      corners.emplace_back(std::log(point.flops / point.bytes), std::log(point.flops / point.time_ns * 1e9));
  std::sort(corners.begin(), corners.end());
  // Andrew's monotone chain: a corner stays where the line turns right.
  std::vector<std::pair<double, double>> hull;
  for (const auto& corner : corners) {
    while (!hull.empty() && hull.back().first == corner.first) hull.pop_back();  // sorted: the later is the higher
    while (hull.size() >= 2) {
      const auto& [x0, y0] = hull[hull.size() - 2];
      const auto& [x1, y1] = hull.back();
      if ((x1 - x0) * (corner.second - y0) - (y1 - y0) * (corner.first - x0) < 0) break;
      hull.pop_back();
    }
    hull.push_back(corner);
  }
  std::vector<HullCorner> out;
  for (const auto& [intensity, rate] : hull) out.push_back({std::exp(intensity), std::exp(rate)});
  return out;
}

}  // namespace aaco::analytics::roofline
