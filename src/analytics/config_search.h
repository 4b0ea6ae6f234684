#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.h"

// Which configuration of a grid to measure next, and which to keep. Pure: the caller measures.
namespace aaco::analytics::configsearch {

// The value of each axis; 0 is the baseline's.
using Configuration = std::vector<std::size_t>;

// Explores a grid in the order of what is expected to gain most: first every change by itself, in the order of the axes, then
// combinations by the sum of the effects measured so far (additive on a log scale, fitted by backfitting with shrinkage), every
// fifth one at random, so that interactions are found too.
class Exploration {
 public:
  // `sizes`: values of each axis, at least 1. `candidates`: the allowed configurations without the baseline.
  Exploration(std::vector<std::size_t> sizes, std::vector<Configuration> candidates, std::uint64_t seed);

  // The next configuration; empty once all are measured or ruled out.
  std::optional<Configuration> next();
  // Log of time over the baseline's time: below 0 is faster.
  void add(const Configuration& configuration, double log_effect);
  // It cannot be used. If it is a single change, every configuration with that value is ruled out.
  void fail(const Configuration& configuration);
  [[nodiscard]] double predict(const Configuration& configuration) const;
  [[nodiscard]] std::size_t untried() const { return open_.size(); }

 private:
  void fit();
  void close(const Configuration& configuration);

  struct Observation {
    Configuration configuration;
    double log_effect = 0;
  };
  std::vector<std::size_t> sizes_;
  std::vector<Configuration> open_;  // singles first
  std::vector<Observation> observations_;
  std::vector<std::vector<double>> effects_;  // by axis and value
  core::Random random_;
  std::int64_t combinations_ = 0;
};

// Number of axes with another value than the baseline.
std::size_t changes(const Configuration& configuration);

// Every configuration of the grid without the baseline, single changes first; empty if there are more than `limit`.
std::optional<std::vector<Configuration>> grid(const std::vector<std::size_t>& sizes, std::size_t limit);

// What the racing rounds know about a contender.
struct Standing {
  std::size_t contender = 0;
  std::vector<double> log_effects;  // one per round: the median of its pairs
};
// The better half (rounded up) by the median effect over the rounds, best first.
std::vector<Standing> better_half(std::vector<Standing> standings);
double typical_effect(const Standing& standing);

}  // namespace aaco::analytics::configsearch
