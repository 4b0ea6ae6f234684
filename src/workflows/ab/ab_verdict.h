#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "stats/paired.h"
#include "workflows/ab_request.h"

namespace aaco::workflows {

// What differs between the sides. Only another problem (shapes, batch) forbids to compare: everything else is what is being
// tried.
std::vector<hardware::Difference> ab_differences(std::vector<hardware::Fact> a, std::vector<hardware::Fact> b);

// The durations of a round, block by block, in neighbouring pairs.
struct AbRoundBlocks {
  std::array<std::vector<std::vector<double>>, 2> sides;  // ns
  bool b_first = false;
};

// Everything measured so far, and what it says.
class AbSamples {
 public:
  explicit AbSamples(std::array<double, 2> items = {1, 1}) : items_(items) {}  // that a call of each side works on
  void add(AbRoundBlocks round) { rounds_.push_back(std::move(round)); }
  [[nodiscard]] std::size_t rounds() const { return rounds_.size(); }
  struct Look {
    std::string sentence;
    bool enough = false;  // decided, and the smallest detectable change is small enough
  };
  // Empty where this is no round to look at (stats::is_early_look).
  [[nodiscard]] std::optional<Look> look(const AbRequest& request) const;
  // Fills the verdict. A request that ended at an early look is judged at that look's level.
  void decide(const AbRequest& request, AbOutcome& outcome) const;

 private:
  [[nodiscard]] std::optional<stats::PairedEstimate> estimate(stats::StatisticChoice statistic) const;
  [[nodiscard]] analytics::regression::MetricResult judged(const std::string& id, stats::StatisticChoice statistic, double level,
                                                           const AbRequest& request) const;
  std::array<double, 2> items_;
  std::vector<AbRoundBlocks> rounds_;
};

// The answer where the sides work on other problems.
void refuse_comparison(AbOutcome& outcome);

}  // namespace aaco::workflows
