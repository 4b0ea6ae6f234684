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
constexpr double kDraws = 8, kMaxDrawn = 8 * 1024;  // orders of the experts; experts in all of them, at least one order
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
  rank.most_experts = rank.experts;
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

// Popularities of the experts, rising: the middle of each of as many parts of the power law's quantiles.
std::vector<double> popularities(const RoutedLayer& layer, double rows, double exponent) {
  const bool many = rows * layer.per_token > layer.experts;
  const double low = many ? 1 : 0.01, high = std::max(low, many ? 0.8 * rows : 2), power = 1 - exponent;
  const double first = std::pow(low, power), last = std::pow(high, power);
  std::vector<double> all(static_cast<std::size_t>(layer.experts));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double u = (static_cast<double>(i) + 0.5) / layer.experts;
    all[i] = std::abs(power) < 1e-9 ? low * std::pow(high / low, u) : std::pow((last - first) * u + first, 1 / power);
  }
  return all;
}

// The visits in proportion to rising popularities, none above `most`; what is above goes to the others.
std::vector<double> shared(std::vector<double> popularity, double visits, double most) {
  double left = std::accumulate(popularity.begin(), popularity.end(), 0.0);
  for (auto one = popularity.rbegin(); one != popularity.rend(); ++one) {
    const double part = left > 0 ? std::min(most, visits * *one / left) : 0;
    left -= *one;
    visits -= part;
    *one = part;
  }
  return popularity;
}

struct OneExpert {
  double visits = 0, has_some = 0;  // has_some: chance of at least one row
};

// Of experts in this order on ranks of `own` each.
BusiestRank of_order(const std::vector<OneExpert>& experts, std::ptrdiff_t own) {
  BusiestRank busiest;
  for (auto first = experts.begin(); experts.end() - first >= own; first += own) {
    BusiestRank rank;
    for (auto one = first; one != first + own; ++one) {
      rank.visits += one->visits;
      rank.experts += one->has_some;
    }
    busiest.most_experts = std::max(busiest.most_experts, rank.experts);
    if (rank.visits <= busiest.visits) continue;
    busiest.visits = rank.visits;
    busiest.experts = rank.experts;
  }
  return busiest;
}

BusiestRank power_law(const RoutedLayer& layer, double rows, double exponent) {
  std::vector<OneExpert> experts;
  experts.reserve(static_cast<std::size_t>(layer.experts));
  for (const double visits : shared(popularities(layer, rows, exponent), rows * layer.per_token, rows))
    experts.push_back({visits, visited(1, std::min(1.0, visits / rows), rows)});
  const auto own = static_cast<std::ptrdiff_t>(layer.experts / layer.groups);
  const double draws = layer.groups > 1 ? std::clamp(std::floor(kMaxDrawn / layer.experts), 1.0, kDraws) : 1;
  core::Random random(kSeed);
  BusiestRank mean;
  for (int draw = 0; draw < static_cast<int>(draws); ++draw) {
    if (layer.groups > 1)
      for (std::size_t i = experts.size(); i > 1; --i) std::swap(experts[i - 1], experts[random.below(i)]);
    const BusiestRank one = of_order(experts, own);
    mean.visits += one.visits / draws;
    mean.experts += one.experts / draws;
    mean.most_experts += one.most_experts / draws;
  }
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
    case ExpertRouting::Kind::power_law: {
      BusiestRank rank = power_law(layer, rows, routing.value);
      // Chance makes loads of few tokens uneven, however popular the experts are.
      rank.visits = std::max(rank.visits, of_visits(layer, rows, uniform_visits(layer, rows)).visits);
      rank.imbalance = rank.visits / mean;
      return rank;
    }
    case ExpertRouting::Kind::factor: return of_visits(layer, rows, layer.groups > 1 ? mean * routing.value : mean);
  }
  return {};
}

}  // namespace aaco::estimation
