#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/random.h"
#include "estimation/validation.h"

namespace aaco::estimation {
namespace {

struct Site {
  std::vector<double> errors;               // signed, relative
  std::vector<double> widths, same_widths;  // upper over lower bound
  std::int64_t inside = 0, same_inside = 0;
};

bool within(const stats::Interval& bounds, double measured) { return bounds.low <= measured && measured <= bounds.high; }

// Of a bound that reaches to 0 there is no ratio: as wide as can be told.
double width_of(const stats::Interval& bounds) {
  constexpr double kWidest = 1e6;
  return bounds.low > 0 ? std::min(bounds.high / bounds.low, kWidest) : kWidest;
}

std::vector<Site> sites_of(std::span<const Judged> rows) {
  std::map<std::string_view, std::size_t> numbers;
  std::vector<Site> sites;
  for (const Judged& row : rows) {
    if (!row.estimated) continue;
    const auto [place, added] = numbers.try_emplace(row.site, sites.size());
    if (added) sites.emplace_back();
    Site& site = sites[place->second];
    site.errors.push_back(*row.estimated / row.measured - 1);
    const stats::Interval any{row.lower, row.upper}, same = row.same_laboratory.value_or(any);
    site.inside += within(any, row.measured) ? 1 : 0;
    site.same_inside += within(same, row.measured) ? 1 : 0;
    site.widths.push_back(width_of(any));
    site.same_widths.push_back(width_of(same));
  }
  return sites;
}

// mean_ape, median_ape, p90_ape, bias, coverage90, sharpness, same_coverage90, same_sharpness
using Values = std::array<double, 8>;

// Type 7, the two neighbours found without sorting all.
double quantile_at(std::vector<double>& values, double probability) {
  const double place = probability * (static_cast<double>(values.size()) - 1);
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), low, values.end());
  const double below = *low;
  if (low + 1 == values.end()) return below;
  const double above = *std::min_element(low + 1, values.end());
  return below + (place - std::floor(place)) * (above - below);
}

template <class Indices>
double median_width(const std::vector<Site>& sites, const Indices& chosen, std::vector<double> Site::*widths,
                    std::vector<double>& all) {
  all.clear();
  for (const std::size_t index : chosen) {
    const auto& of = sites[index].*widths;
    all.insert(all.end(), of.begin(), of.end());
  }
  return quantile_at(all, 0.5);
}

template <class Indices>
Values values_of(const std::vector<Site>& sites, const Indices& chosen, std::vector<double>& sizes) {
  sizes.clear();
  double bias = 0;
  std::int64_t inside = 0, same_inside = 0;
  for (const std::size_t index : chosen) {
    for (const double error : sites[index].errors) {
      bias += error;
      sizes.push_back(std::abs(error));
    }
    inside += sites[index].inside;
    same_inside += sites[index].same_inside;
  }
  const double count = static_cast<double>(sizes.size());
  const double mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) / count;
  const double median = quantile_at(sizes, 0.5), p90 = quantile_at(sizes, 0.9);
  const double width = median_width(sites, chosen, &Site::widths, sizes);
  const double same_width = median_width(sites, chosen, &Site::same_widths, sizes);
  return {
      mean,      median, p90, bias / count, static_cast<double>(inside) / count, width, static_cast<double>(same_inside) / count,
      same_width};
}

}  // namespace

Scores score(std::span<const Judged> rows, const ScoreSettings& settings) {
  Scores result;
  const std::vector<Site> sites = sites_of(rows);
  result.sites = static_cast<std::int64_t>(sites.size());
  for (const Judged& row : rows) ++(row.estimated ? result.count : result.without_estimate);
  if (sites.empty()) return result;
  std::vector<std::size_t> chosen(sites.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  std::vector<double> sizes;
  const Values values = values_of(sites, chosen, sizes);
  std::array<std::vector<double>, std::tuple_size_v<Values>> resampled;
  core::Random random(settings.seed);
  for (int i = 0; i < settings.replicates && sites.size() > 1; ++i) {
    for (std::size_t& index : chosen) index = static_cast<std::size_t>(random.below(sites.size()));
    const Values drawn = values_of(sites, chosen, sizes);
    for (std::size_t j = 0; j < drawn.size(); ++j) resampled[j].push_back(drawn[j]);
  }
  const auto with_interval = [&](std::size_t j) {
    Score score{values[j], {}};
    if (resampled[j].empty()) return score;
    std::sort(resampled[j].begin(), resampled[j].end());
    score.ci95 = stats::Interval{stats::quantile_of_sorted(resampled[j], 0.025), stats::quantile_of_sorted(resampled[j], 0.975)};
    return score;
  };
  result.mean_ape = with_interval(0);
  result.median_ape = with_interval(1);
  result.p90_ape = with_interval(2);
  result.bias = with_interval(3);
  result.coverage90 = with_interval(4);
  result.sharpness = with_interval(5);
  result.same_coverage90 = with_interval(6);
  result.same_sharpness = with_interval(7);
  return result;
}

std::map<std::string, Scores> score_groups(std::span<const Judged> rows, const ScoreSettings& settings) {
  std::map<std::string, std::vector<Judged>> groups;
  for (const Judged& row : rows) groups[row.group].push_back(row);
  std::map<std::string, Scores> result;
  for (const auto& [name, members] : groups) result.emplace(name, score(members, settings));
  return result;
}

core::Json to_json(const Scores& scores) {
  core::Json document = core::Json::object({{"count", scores.count}, {"sites", scores.sites}});
  core::Json intervals = core::Json::object();
  const auto put = [&](const char* name, const std::optional<Score>& score) {
    if (!score) return;
    document.set(name, score->value);
    if (score->ci95) intervals.set(name, core::Json::array({score->ci95->low, score->ci95->high}));
  };
  put("mean_ape", scores.mean_ape);
  put("median_ape", scores.median_ape);
  put("p90_ape", scores.p90_ape);
  put("bias", scores.bias);
  put("coverage90", scores.coverage90);
  put("sharpness", scores.sharpness);
  put("same_laboratory_coverage90", scores.same_coverage90);
  put("same_laboratory_sharpness", scores.same_sharpness);
  document.set("without_estimate", scores.without_estimate);
  if (!intervals.members().empty()) document.set("ci95", std::move(intervals));
  return document;
}

}  // namespace aaco::estimation
