#pragma once

#include <cstddef>
#include <vector>

namespace aaco::stats {

// The values of one segment, numbered k = 0, 1, ..., with running sums, so that the sums of z_k = y_k - rho y_{k-1} from any
// value on cost O(1) for any rho. Values are kept relative to the first one, which keeps the sums exact where a level is far from
// 0.
class GrowingSegment {
 public:
  GrowingSegment() { clear(); }
  void clear();
  void push(double value);
  void pop();  // not empty
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] double operator[](std::size_t k) const { return values_[k]; }

  // Over k >= from, from >= 1: of z_k, of k z_k, of k^2 z_k.
  [[nodiscard]] double sum(std::size_t from, double rho) const {
    const std::size_t m = size();
    return (y_[m] - y_[from]) - rho * (y_[m - 1] - y_[from - 1]);
  }
  [[nodiscard]] double sum_k(std::size_t from, double rho) const {
    const std::size_t m = size();
    return (ky_[m] - ky_[from]) - rho * ((ky_[m - 1] - ky_[from - 1]) + (y_[m - 1] - y_[from - 1]));
  }
  [[nodiscard]] double sum_kk(std::size_t from, double rho) const;
  // Of all z_k^2, with z_0 = sqrt(1 - rho^2) y_0: the exact likelihood of a stationary first value.
  [[nodiscard]] double squares(double rho) const;

 private:
  double first_ = 0;
  std::vector<double> values_;
  std::vector<double> y_, ky_, kky_, yy_, lagged_;  // entry i: over the first i values
};

}  // namespace aaco::stats
