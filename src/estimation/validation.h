#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "stats/summary.h"

// Estimates beside measurements: how far off, how often inside the bounds, and how sure that is.
namespace aaco::estimation {

struct Judged {
  std::string group;  // class of the operator
  std::string site;   // resampled as a whole
  double measured = 0;
  std::optional<double> estimated;  // empty: there was no estimate
  double lower = 0, upper = 0;
  std::optional<stats::Interval> same_laboratory;  // bounds for who measures as those did whom a fit is of; empty: the same
};

struct Score {
  double value = 0;
  std::optional<stats::Interval> ci95;  // empty with fewer than two sites
};

struct Scores {
  std::int64_t count = 0, without_estimate = 0, sites = 0;
  // Of |estimate / measured - 1|; bias: mean of estimate / measured - 1; coverage: share of measured values inside the bounds.
  std::optional<Score> mean_ape, median_ape, p90_ape, bias, coverage90;
  // Median of upper over lower bound; and both figures of the bounds of the same laboratory.
  std::optional<Score> sharpness, same_coverage90, same_sharpness;
};

struct ScoreSettings {
  int replicates = 200;
  std::uint64_t seed = 1;
};

// Intervals come from a bootstrap that resamples sites (Davison and Hinkley, Bootstrap Methods, section 3.8).
Scores score(std::span<const Judged> rows, const ScoreSettings& settings = {});
// The same for each group.
std::map<std::string, Scores> score_groups(std::span<const Judged> rows, const ScoreSettings& settings = {});

core::Json to_json(const Scores& scores);

}  // namespace aaco::estimation
