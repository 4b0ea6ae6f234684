#include "estimation/calibration/ensemble.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <thread>

#include "core/random.h"
#include "stats/compact_trees.h"
#include "stats/summary.h"

namespace aaco::estimation {
namespace {

// By the number of rows: deep trees where there is enough to learn from, and less deep ones of fewer features where rows that
// look alike differ, since there is less to be had from each. Many sites are told apart by coarser bins as well, in half the
// time; a few are not.
stats::TreeSettings settings_for(std::size_t rows, int groups, stats::TreeLoss loss) {
  constexpr std::size_t kFew = 300, kSome = 4000;
  constexpr int kManyGroups = 200, kCoarseBins = 64;
  stats::TreeSettings trees;
  trees.threads = 1;  // members are fitted side by side
  trees.row_ratio = 0.8;
  trees.column_ratio = 0.6;
  trees.learning_rate = 0.1;
  trees.rounds = rows < kFew ? 100 : rows < kSome ? 300 : 200;
  trees.depth = rows < kFew ? 4 : rows < kSome ? 6 : 8;
  trees.least_weight = 3;
  trees.loss = loss;
  if (rows >= kSome && groups >= kManyGroups && loss == stats::TreeLoss::squared) trees.bins = kCoarseBins;
  if (loss == stats::TreeLoss::relative && rows >= kFew) {
    trees.rounds = 300;
    trees.depth = 6;
    trees.column_ratio = 0.3;
    trees.least_weight = 2;
  }
  return trees;
}

// About a sixth of the leaves, 3 % further off on held-out sites (docs/results.md). Few sites: more members, each of fewer trees.
constexpr double kMinRounds = 5;
constexpr int kCompactParts = 4, kCompactPartsOfSome = 6, kCompactPartsOfFew = 10;

stats::TreeSettings compact_settings(stats::TreeSettings trees, int bins, bool few) {
  trees.bins = bins;
  if (trees.loss == stats::TreeLoss::relative) {
    trees.rounds = std::min(trees.rounds, few ? 100 : 150);
    trees.learning_rate = few ? 0.18 : 0.15;
    return trees;
  }
  trees.rounds = std::min(trees.rounds, few ? 100 : 110);
  trees.depth = std::min(trees.depth, 7);
  trees.learning_rate = few ? 0.14 : 0.12;
  return trees;
}

// As a file of compact trees would give them back.
core::Result<stats::BoostedTrees> rounded(const stats::BoostedTrees& trees) {
  AACO_ASSIGN(const std::string bytes, to_compact(trees));
  return stats::from_compact(trees.columns(), trees.bases(), trees.trees(), std::as_bytes(std::span(bytes)));
}

std::vector<int> parts_of(const TrainingTable& table, int parts, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(table.group_count));
  std::iota(order.begin(), order.end(), 0);
  core::Random random(seed);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int> part(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) part[static_cast<std::size_t>(order[i])] = static_cast<int>(i) % parts;
  return part;
}

core::Result<stats::BoostedTrees> fit_member(const TrainingTable& table, const std::vector<int>& part, int left_out,
                                             const FitSettings& asked, const std::vector<float>& weights, double effort) {
  stats::FeatureTable features{{}, table.features.columns};
  std::vector<float> targets, member_weights;
  for (std::size_t row = 0; row < table.targets.size(); ++row) {
    if (part[static_cast<std::size_t>(table.groups[row])] == left_out || !table.learns(row)) continue;
    const auto values = table.features.row(row);
    features.values.insert(features.values.end(), values.begin(), values.end());
    targets.push_back(table.targets[row]);
    if (!weights.empty()) member_weights.push_back(weights[row]);
  }
  stats::TreeSettings settings = settings_for(targets.size(), table.group_count, table.loss);
  if (table.column_ratio > 0) settings.column_ratio = table.column_ratio;
  if (table.depth > 0) settings.depth = std::min(settings.depth, table.depth);
  const int parts = *std::max_element(part.begin(), part.end()) + 1;
  if (asked.compact) {
    settings = compact_settings(settings, asked.compact_bins, parts > kCompactParts);
    const double rounds = settings.rounds;
    effort *=
        asked.trees > 0 ? std::min(1.0, std::max(kMinRounds, asked.trees / static_cast<double>(parts)) / rounds) : asked.effort;
  }
  settings.seed = asked.seed + static_cast<std::uint64_t>(left_out);
  settings.rounds = static_cast<int>(settings.rounds * effort);
  settings.learning_rate /= std::sqrt(effort);
  auto trees = stats::fit_trees(features, targets, settings, member_weights);
  return trees && asked.compact ? rounded(*trees) : trees;
}

// Runs jobs 0 .. count - 1 on some threads; the first failure is the answer.
template <class Job>
core::Status side_by_side(int count, int threads, const Job& job) {
  std::vector<core::Status> outcomes(static_cast<std::size_t>(count));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) outcomes[static_cast<std::size_t>(i)] = job(i);
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < std::min(threads, count); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  for (core::Status& outcome : outcomes) AACO_TRY(std::move(outcome));
  return {};
}

constexpr double kMinScale = 1e-3;
constexpr double kFirstLook = 0.4;  // of the trees, to weigh rows by
constexpr int kScaleParts = 8,
              kGroupsInPart = 4;  // a scale without one of few groups is far off there (docs/results.md, "Sharpness")

// A quantile that leaves room for the few groups it was seen on: exchangeable in groups, so it is taken at level (g + 1) / g.
double quantile(const std::vector<double>& sorted, double level, int groups) {
  const double g = groups;
  const double further = level < 0.5 ? level - level / g : level + (1 - level) / g;
  return stats::quantile_of_sorted(sorted, further) * (1 + 2 / g);
}

// Fits the scale on the rows of some groups; `use` says which.
template <class Use>
core::Result<stats::BoostedTrees> fit_scale(const TrainingTable& table, const std::vector<float>& log_sizes,
                                            const FitSettings& asked, const Use& use) {
  stats::FeatureTable features{{}, table.features.columns};
  std::vector<float> targets;
  for (std::size_t row = 0; row < log_sizes.size(); ++row) {
    if (!use(table.groups[row])) continue;
    const auto values = table.features.row(row);
    features.values.insert(features.values.end(), values.begin(), values.end());
    targets.push_back(log_sizes[row]);
  }
  stats::TreeSettings settings;
  settings.threads = 1;
  settings.rounds = 60;
  settings.depth = 4;
  settings.least_weight = 40;
  if (asked.compact) settings.bins = asked.compact_bins;
  if (asked.compact && asked.trees > 0) {
    settings.rounds = 24;
    settings.learning_rate = 0.2;
  }
  auto trees = stats::fit_trees(features, targets, settings);
  return trees && asked.compact ? rounded(*trees) : trees;
}

core::Result<Bounds> bounds_of(const TrainingTable& table, const std::vector<double>& unseen, const FitSettings& settings) {
  std::vector<float> log_sizes;
  for (std::size_t row = 0; row < unseen.size(); ++row)
    log_sizes.push_back(
        static_cast<float>(std::log(std::abs(static_cast<double>(table.targets[row]) - unseen[row]) + kMinScale)));
  Bounds bounds;
  AACO_ASSIGN(bounds.log_scale, fit_scale(table, log_sizes, settings, [](int) { return true; }));
  // The quantiles are of scales that had not seen the group either, each fitted to most of the others: one of fewer groups is
  // noisier than the scale that is used, and its quantiles would be too wide (docs/results.md, "Sharpness").
  const int parts = std::clamp(table.group_count / kGroupsInPart, 2, kScaleParts);
  std::vector<double> scaled(unseen.size());
  AACO_TRY(side_by_side(parts, settings.threads, [&](int left_out) -> core::Status {
    AACO_ASSIGN(const auto scale, fit_scale(table, log_sizes, settings, [&](int group) { return group % parts != left_out; }));
    for (std::size_t row = 0; row < unseen.size(); ++row)
      if (table.groups[row] % parts == left_out)
        scaled[row] = (static_cast<double>(table.targets[row]) - unseen[row]) / std::exp(scale.predict(table.features.row(row)));
    return {};
  }));
  std::sort(scaled.begin(), scaled.end());
  bounds.low = quantile(scaled, 0.05, table.group_count);
  bounds.high = quantile(scaled, 0.95, table.group_count);
  bounds.below_ceilings = std::find(table.learnt.begin(), table.learnt.end(), false) != table.learnt.end();
  return bounds;
}

// One member without each part, and what it says of the rows it had not seen.
core::Status fit_members(const TrainingTable& table, const std::vector<int>& part, const FitSettings& settings,
                         const std::vector<float>& weights, double effort, Ensemble& result) {
  const int parts = *std::max_element(part.begin(), part.end()) + 1;
  result.members.resize(static_cast<std::size_t>(parts));
  AACO_TRY(side_by_side(parts, settings.threads, [&](int left_out) -> core::Status {
    auto member = fit_member(table, part, left_out, settings, weights, effort);
    if (!member) return tl::unexpected<core::Error>(std::move(member).error());
    result.members[static_cast<std::size_t>(left_out)] = *std::move(member);
    return {};
  }));
  for (std::size_t row = 0; row < table.targets.size(); ++row) {
    const auto& member = result.members[static_cast<std::size_t>(part[static_cast<std::size_t>(table.groups[row])])];
    result.unseen[row] = member.predict(table.features.row(row));
  }
  return {};
}

// How much further each row is from what others foretell than the rows of its group that are nearest in size are.
std::vector<double> deviations_among_neighbours(const TrainingTable& table, const std::vector<double>& unseen) {
  constexpr std::ptrdiff_t kReach = 3;
  std::vector<std::vector<std::size_t>> groups(static_cast<std::size_t>(table.group_count));
  for (std::size_t row = 0; row < unseen.size(); ++row)
    if (table.learns(row)) groups[static_cast<std::size_t>(table.groups[row])].push_back(row);
  const auto residual = [&](std::size_t row) { return static_cast<double>(table.targets[row]) - unseen[row]; };
  std::vector<double> deviations(unseen.size(), 0);
  std::vector<double> near;
  for (auto& rows : groups) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return table.sizes[a] < table.sizes[b]; });
    const auto count = static_cast<std::ptrdiff_t>(rows.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      near.clear();
      for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - kReach); j <= std::min(count - 1, i + kReach); ++j)
        near.push_back(residual(rows[static_cast<std::size_t>(j)]));
      std::sort(near.begin(), near.end());
      const std::size_t row = rows[static_cast<std::size_t>(i)];
      deviations[row] = std::abs(residual(row) - stats::quantile_of_sorted(near, 0.5));
    }
  }
  return deviations;
}

// Runs that were disturbed are late, never early: rows far from what others foretell count less, as in Huber's M-estimate
// (Robust Estimation of a Location Parameter, 1964), with half the rows beyond the corner.
std::vector<float> robust_weights(const TrainingTable& table, const std::vector<double>& unseen) {
  const std::vector<double> sizes = deviations_among_neighbours(table, unseen);
  std::vector<double> sorted;
  for (std::size_t row = 0; row < sizes.size(); ++row)
    if (table.learns(row)) sorted.push_back(sizes[row]);
  std::sort(sorted.begin(), sorted.end());
  const double corner = std::max(stats::quantile_of_sorted(sorted, 0.5), kMinScale);
  std::vector<float> weights;
  double sum = 0;
  for (const double size : sizes) {
    weights.push_back(static_cast<float>(std::min(1.0, corner / std::max(size, kMinScale))));
    sum += static_cast<double>(weights.back());
  }
  for (float& weight : weights) weight *= static_cast<float>(static_cast<double>(weights.size()) / sum);
  return weights;
}

}  // namespace

core::Result<Ensemble> fit_ensemble(const TrainingTable& table, const FitSettings& settings) {
  constexpr int kMinGroups = 3, kSomeGroups = 100, kFewGroups = 300;
  constexpr std::size_t kManyRows = 40000;  // twice the fits would take too long
  constexpr double kUntestedBound = 0.7;    // a factor of two either way
  Ensemble result;
  result.unseen.resize(table.targets.size());
  if (table.group_count < kMinGroups) {
    double sum = 0;
    for (const float target : table.targets) sum += static_cast<double>(target);
    const double mean = sum / static_cast<double>(table.targets.size());
    AACO_ASSIGN(stats::BoostedTrees constant, stats::BoostedTrees::of(table.features.columns, {mean}, {}, {}));
    result.members.push_back(std::move(constant));
    std::fill(result.unseen.begin(), result.unseen.end(), mean);
    result.bounds.low = -kUntestedBound;
    result.bounds.high = kUntestedBound;
    return result;
  }
  // Few groups: each is too dear to be left out with many others.
  const bool few = table.group_count < kFewGroups && table.targets.size() < kManyRows;
  const int usual = few ? 2 * settings.parts : settings.parts, compact = !few                               ? kCompactParts
                                                                         : table.group_count >= kSomeGroups ? kCompactPartsOfSome
                                                                                                            : kCompactPartsOfFew;
  // Few trees are better fitted to more rows each.
  const int wanted = !settings.compact ? usual : settings.trees > 0 ? std::min(compact, kCompactParts) : compact;
  const int parts = std::clamp(table.group_count, 2, wanted);
  const std::vector<int> part = parts_of(table, parts, settings.seed);
  if (table.sizes.empty() || table.loss == stats::TreeLoss::relative) {
    AACO_TRY(fit_members(table, part, settings, {}, 1, result));
  } else {
    AACO_TRY(fit_members(table, part, settings, {}, kFirstLook, result));
    AACO_TRY(fit_members(table, part, settings, robust_weights(table, result.unseen), 1, result));
  }
  AACO_ASSIGN(result.bounds, bounds_of(table, result.unseen, settings));
  return result;
}

std::vector<int> number(const std::vector<std::string>& names, int& count) {
  std::map<std::string_view, int> numbers;
  std::vector<int> result;
  result.reserve(names.size());
  for (const std::string& name : names)
    result.push_back(numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second);
  count = static_cast<int>(numbers.size());
  return result;
}

Quality quality_of(std::span<const double> measured, std::span<const double> estimated, int sites) {
  Quality quality;
  quality.rows = static_cast<std::int64_t>(measured.size());
  quality.sites = sites;
  if (measured.empty()) return quality;
  std::vector<double> errors;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double relative = estimated[i] / measured[i] - 1;
    quality.bias += relative / static_cast<double>(measured.size());
    errors.push_back(std::abs(relative));
    quality.mean_error += errors.back() / static_cast<double>(measured.size());
  }
  std::sort(errors.begin(), errors.end());
  quality.median_error = stats::quantile_of_sorted(errors, 0.5);
  quality.p90_error = stats::quantile_of_sorted(errors, 0.9);
  return quality;
}

}  // namespace aaco::estimation
