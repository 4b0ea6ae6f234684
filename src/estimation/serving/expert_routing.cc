#include "estimation/expert_routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/numbers.h"
#include "core/random.h"
#include "core/strings.h"
#include "stats/distributions.h"

namespace aaco::estimation {
namespace {

constexpr std::string_view kPowerLaw = "power_law_";
constexpr double kMaxExponent = 10, kMaxFactor = 1000;
constexpr double kDraws = 16, kMaxDrawn = 16 * 1024;  // popularities in all draws together, at least one draw
constexpr std::uint64_t kSeed = 1;

// Of `count` experts that a row chooses with `chance` each, those that at least one of the rows chooses.
double visited(double count, double chance, double rows) {
  return chance >= 1 ? count : count * -std::expm1(rows * std::log1p(-chance));
}

// A rank with so many visits, spread alike over its experts.
BusiestRank of_visits(const RoutedLayer& layer, double rows, double visits) {
  const double own = layer.experts / layer.groups, mean = rows * layer.per_token / layer.groups;
  const double most = rows * std::min(layer.per_token, own);
  BusiestRank rank;
  rank.visits = std::clamp(visits, mean, std::max(mean, most));
  rank.experts = visited(own, std::min(1.0, rank.visits / (own * rows)), rows);
  rank.imbalance = rank.visits / mean;
  return rank;
}

// Expected largest of `groups` independent binomials of `trials` and 1 / groups: the sum of 1 - F(v)^groups over v.
double largest_binomial(double trials, double groups) {
  constexpr double kNegligible = 1e-9;
  const double chance = 1 / groups;
  double mass = std::pow(1 - chance, trials), below = 0, sum = 0;
  for (double v = 0; v < trials; ++v) {
    below += mass;
    const double above = 1 - std::pow(std::min(1.0, below), groups);
    if (above < kNegligible && v > trials * chance) break;
    sum += above;
    mass *= (trials - v) / (v + 1) * chance / (1 - chance);
  }
  return sum;
}

double uniform_visits(const RoutedLayer& layer, double rows) {
  constexpr double kManyVisits = 64;  // of a rank: normal from here
  const double groups = layer.groups, mean = rows * layer.per_token / groups;
  if (groups <= 1 || layer.per_token >= layer.experts) return mean;
  // No token chooses an expert twice, and the ranks' visits add up to a constant.
  const double wider = std::sqrt((layer.experts - layer.per_token) / (layer.experts - 1) * groups / (groups - 1));
  const double beyond = mean > kManyVisits
                            ? std::sqrt(mean * (1 - 1 / groups)) * stats::normal_quantile((groups - 0.375) / (groups + 0.25))
                            : largest_binomial(rows * layer.per_token, groups) - mean;
  return mean + wider * beyond;
}

// Shares `total` in proportion to `popularity`, none above `most`; what is above goes to the others.
std::vector<double> shared(const std::vector<double>& popularity, double total, double most) {
  std::vector<std::size_t> order(popularity.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return popularity[a] > popularity[b]; });
  double left = std::accumulate(popularity.begin(), popularity.end(), 0.0);
  std::vector<double> visits(popularity.size());
  for (const std::size_t i : order) {
    visits[i] = left > 0 ? std::min(most, total * popularity[i] / left) : 0;
    total -= visits[i];
    left -= popularity[i];
  }
  return visits;
}

BusiestRank drawn(const RoutedLayer& layer, double rows, double exponent, core::Random& random) {
  const double visits = rows * layer.per_token;
  const bool many = visits > layer.experts;
  const double low = many ? 1 : 0.01, high = std::max(low, many ? 0.8 * rows : 2);
  std::vector<double> popularity(static_cast<std::size_t>(layer.experts));
  const double power = 1 - exponent;
  for (std::size_t i = 0; i < popularity.size(); ++i) {
    const double u = (static_cast<double>(i) + random.uniform()) / layer.experts;  // one of each part: fewer draws suffice
    popularity[i] = std::abs(power) < 1e-9
                        ? low * std::pow(high / low, u)
                        : std::pow((std::pow(high, power) - std::pow(low, power)) * u + std::pow(low, power), 1 / power);
  }
  std::shuffle(popularity.begin(), popularity.end(), random);
  const std::vector<double> load = shared(popularity, visits, rows);
  const auto own = static_cast<std::ptrdiff_t>(layer.experts / layer.groups);
  BusiestRank busiest;
  for (auto first = load.begin(); load.end() - first >= own; first += own) {
    double experts = 0;
    for (auto one = first; one != first + own; ++one) experts += visited(1, std::min(1.0, *one / rows), rows);
    busiest.visits = std::max(busiest.visits, std::accumulate(first, first + own, 0.0));
    busiest.experts = std::max(busiest.experts, experts);
  }
  return busiest;
}

BusiestRank power_law(const RoutedLayer& layer, double rows, double exponent) {
  core::Random random(kSeed);
  BusiestRank mean;
  const double draws = std::clamp(std::floor(kMaxDrawn / layer.experts), 1.0, kDraws);
  for (int i = 0; i < static_cast<int>(draws); ++i) {
    const BusiestRank one = drawn(layer, rows, exponent, random);
    mean.visits += one.visits / draws;
    mean.experts += one.experts / draws;
  }
  mean.visits = std::max(mean.visits, of_visits(layer, rows, uniform_visits(layer, rows)).visits);
  mean.imbalance = mean.visits / (rows * layer.per_token / layer.groups);
  return mean;
}

}  // namespace

core::Result<ExpertRouting> parse_routing(std::string_view text) {
  using Kind = ExpertRouting::Kind;
  const std::string name = core::to_lower(core::trim(text));
  if (name == "uniform") return ExpertRouting{};
  if (name == "even") return ExpertRouting{Kind::even, 0};
  const bool is_power = name.starts_with(kPowerLaw);
  const auto value = core::parse_f64(is_power ? std::string_view(name).substr(kPowerLaw.size()) : name);
  if (is_power && value && *value > 0 && *value <= kMaxExponent) return ExpertRouting{Kind::power_law, *value};
  if (!is_power && value && *value >= 1 && *value <= kMaxFactor) return ExpertRouting{Kind::factor, *value};
  return core::fail(core::ErrorCode::invalid_argument, "invalid expert load '" + std::string(text) + "'",
                    "use uniform, even, power_law_X (exponent X up to 10), or the busiest GPU's load over the mean (1 to 1000)");
}

std::string to_string(const ExpertRouting& routing) {
  switch (routing.kind) {
    case ExpertRouting::Kind::uniform: return "uniform";
    case ExpertRouting::Kind::even: return "even";
    case ExpertRouting::Kind::power_law: return fmt::format("{}{:g}", kPowerLaw, routing.value);
    case ExpertRouting::Kind::factor: return fmt::format("{:g}", routing.value);
  }
  return "";
}

BusiestRank busiest_rank(const RoutedLayer& layer, double rows, const ExpertRouting& routing) {
  rows = std::max(1.0, rows);
  const double mean = rows * layer.per_token / layer.groups;
  switch (routing.kind) {
    case ExpertRouting::Kind::uniform: return of_visits(layer, rows, uniform_visits(layer, rows));
    case ExpertRouting::Kind::even: return of_visits(layer, rows, mean);
    case ExpertRouting::Kind::power_law: return power_law(layer, rows, routing.value);
    case ExpertRouting::Kind::factor: return of_visits(layer, rows, layer.groups > 1 ? mean * routing.value : mean);
  }
  return {};
}

}  // namespace aaco::estimation
