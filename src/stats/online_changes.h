#pragma once

#include <cstdint>
#include <vector>

namespace aaco::stats {

struct OnlineChangeOptions {
  double expected_run = 200;         // values between changes; the hazard is its inverse
  std::int64_t learning_count = 10;  // values that set the scale of the prior; nothing is reported before
  double prior_spread = 30;          // standard deviation of a new level around the first one, in robust deviations of the noise
};

// Bayesian online change-point detection (Adams and MacKay, arXiv 0710.3742): the probability of every length of the present run
// after each value, with normal values of unknown mean and variance (Student predictive) and a constant hazard. Memory and time
// of a value grow with the number of run lengths that are still likely (those below 1e-8 are dropped).
class OnlineChangeDetector {
 public:
  explicit OnlineChangeDetector(const OnlineChangeOptions& options = {});

  // Values must be finite (AACO_CHECK).
  void add(double value);
  [[nodiscard]] std::int64_t count() const { return count_; }
  // The length of the present run that is likeliest, in values; 0 while learning.
  [[nodiscard]] std::int64_t run_length() const;
  // The probability that a change happened within the last `values` values; 0 while learning.
  [[nodiscard]] double change_probability(std::int64_t values) const;
  // The likeliest places of all changes so far: first values after a change, ascending (the best path, as Fearnhead and Liu, JRSS
  // B 69, 2007, trace it).
  [[nodiscard]] std::vector<std::int64_t> changes() const;

 private:
  struct Run {
    std::int64_t start = 0;  // its first value
    double probability = 0;  // of this run length
    double path = 0;         // log probability of the best sequence of changes that ends in it
    double mean = 0;         // posterior: normal-gamma
    double weight = 0;       // pseudo-count of the mean
    double shape = 0;
    double rate = 0;
  };
  void learn();
  void start_run(std::int64_t now);
  void advance(double value);
  void forget_unlikely();
  double absorb(Run& run, double value, std::int64_t length);
  double log_constant(std::int64_t length);
  [[nodiscard]] Run fresh(std::int64_t start) const;

  OnlineChangeOptions options_;
  std::int64_t count_ = 0;
  std::vector<double> learned_;  // the first values
  double centre_ = 0;
  double scale_ = 1;
  std::vector<Run> runs_;               // by start, ascending
  std::vector<std::int64_t> previous_;  // for each value, the start of the best run that one starting at it would follow
  std::vector<double> log_constants_;   // of the predictive density, by run length
};

}  // namespace aaco::stats
