#pragma once

#include <string>

// The smallest true change that a comparison decides.
namespace aaco::stats {

// Noise of the estimated log of a ratio.
struct ChangeNoise {
  double standard_error = 0;  // as estimated from the data; 0: nothing varies
  double degrees_of_freedom = 1;
};

// What a change has to pass to be decided: its interval of Student's t at `level` lies wholly beyond the threshold, and the
// interval at `change_level` excludes no change (0: not asked), as corrections for several metrics ask.
struct DecisionBar {
  double threshold_ratio = 0;  // at least 0
  double level = 0.95;         // of the two-sided interval, 0..1
  double power = 0.8;          // 0..1: how often a true change of the size is to be decided
  double change_level = 0;
};

// The smallest true changes that are decided with the power, as positive ratios of the baseline: B is larger by
// `increase_ratio`, or smaller by `decrease_ratio`, at most 1: no decrease is decided.
struct Detectable {
  double increase_ratio = 0;
  double decrease_ratio = 0;
  bool operator==(const Detectable&) const = default;
};

// With an estimate normal around the true log change, of deviation sigma, and its standard error s distributed as sigma times
// chi / sqrt(df), a change is decided where estimate - t s passes the threshold's log: a power of noncentral t, by its normal
// approximation (Johnson and Welch, Biometrika 31, 1940): sigma (t c + z sqrt(1 + t^2 (1 - c^2))) beyond the threshold, where z
// is the normal quantile of the power and c the mean of s / sigma, which turns s into an estimate of sigma. Of one degree of
// freedom and a power of 90 % the approximation is 5 % too low, of more it is closer.
Detectable smallest_detectable(const ChangeNoise& noise, const DecisionBar& bar);

// "+8.20 % or -7.90 %"; "above 1000 times", and no decrease to less than a thousandth.
std::string to_text(const Detectable& detectable);

// The noise takes more of the smallest detectable increase than twice the threshold does: less of it would help.
bool is_noisy(const Detectable& detectable, double threshold_ratio);

// How far beyond the threshold, in logs, a true change has to lie for smallest_detectable().
double detectable_distance(const ChangeNoise& noise, double level, double power);

}  // namespace aaco::stats
