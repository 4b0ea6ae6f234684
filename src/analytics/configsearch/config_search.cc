#include "analytics/config_search.h"

#include <algorithm>
#include <utility>

namespace aaco::analytics::configsearch {
namespace {

constexpr int kSweeps = 20;         // of backfitting; it converges in a few
constexpr double kShrinkage = 0.5;  // observations of no effect that every value starts with
constexpr std::int64_t kRandomEvery = 5;

}  // namespace

std::size_t changes(const Configuration& configuration) {
  return static_cast<std::size_t>(
      std::count_if(configuration.begin(), configuration.end(), [](std::size_t value) { return value != 0; }));
}

std::optional<std::vector<Configuration>> grid(const std::vector<std::size_t>& sizes, std::size_t limit) {
  std::size_t count = 1;
  for (const std::size_t size : sizes) {
    count *= std::max<std::size_t>(size, 1);
    if (count > limit) return std::nullopt;
  }
  std::vector<Configuration> all;
  Configuration one(sizes.size(), 0);
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (++one[axis] < sizes[axis]) break;
      one[axis] = 0;
    }
    all.push_back(one);
  }
  // A change of an early axis is expected to gain more.
  std::stable_sort(all.begin(), all.end(), [](const Configuration& a, const Configuration& b) {
    const auto key = [](const Configuration& c) {
      const auto first = std::find_if(c.begin(), c.end(), [](std::size_t value) { return value != 0; });
      return std::pair(changes(c), first - c.begin());
    };
    return key(a) < key(b);
  });
  return all;
}

Exploration::Exploration(std::vector<std::size_t> sizes, std::vector<Configuration> candidates, std::uint64_t seed)
    : sizes_(std::move(sizes)), open_(std::move(candidates)), random_(seed) {
  std::stable_sort(open_.begin(), open_.end(),
                   [](const Configuration& a, const Configuration& b) { return (changes(a) > 1) < (changes(b) > 1); });
  for (const std::size_t size : sizes_) effects_.emplace_back(size, 0.0);
}

std::optional<Configuration> Exploration::next() {
  if (open_.empty()) return std::nullopt;
  if (changes(open_.front()) <= 1) return open_.front();
  if (++combinations_ % kRandomEvery == 0) return open_[random_.below(open_.size())];
  return *std::min_element(open_.begin(), open_.end(),
                           [&](const Configuration& a, const Configuration& b) { return predict(a) < predict(b); });
}

void Exploration::close(const Configuration& configuration) { std::erase(open_, configuration); }

void Exploration::add(const Configuration& configuration, double log_effect) {
  close(configuration);
  observations_.push_back({configuration, log_effect});
  fit();
}

void Exploration::fail(const Configuration& configuration) {
  close(configuration);
  if (changes(configuration) != 1) return;
  for (std::size_t axis = 0; axis < configuration.size(); ++axis) {
    if (configuration[axis] == 0) continue;
    std::erase_if(open_, [&](const Configuration& other) { return other[axis] == configuration[axis]; });
  }
}

double Exploration::predict(const Configuration& configuration) const {
  double sum = 0;
  for (std::size_t axis = 0; axis < configuration.size(); ++axis) sum += effects_[axis][configuration[axis]];
  return sum;
}

void Exploration::fit() {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      std::vector<double> sums(sizes_[axis], 0), counts(sizes_[axis], kShrinkage);
      for (const Observation& seen : observations_) {
        const std::size_t value = seen.configuration[axis];
        sums[value] += seen.log_effect - predict(seen.configuration) + effects_[axis][value];
        counts[value] += 1;
      }
      for (std::size_t value = 1; value < sizes_[axis]; ++value) effects_[axis][value] = sums[value] / counts[value];
    }
  }
}

double typical_effect(const Standing& standing) {
  std::vector<double> sorted = standing.log_effects;
  if (sorted.empty()) return 0;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<Standing> better_half(std::vector<Standing> standings) {
  std::stable_sort(standings.begin(), standings.end(),
                   [](const Standing& a, const Standing& b) { return typical_effect(a) < typical_effect(b); });
  standings.resize((standings.size() + 1) / 2);
  return standings;
}

}  // namespace aaco::analytics::configsearch
