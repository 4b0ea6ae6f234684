#include "stats/growing_segment.h"

namespace aaco::stats {

void GrowingSegment::clear() {
  values_.clear();
  for (std::vector<double>* sums : {&y_, &ky_, &kky_, &yy_, &lagged_}) sums->assign(1, 0.0);
}

void GrowingSegment::push(double value) {
  if (values_.empty()) first_ = value;
  value -= first_;
  const auto k = static_cast<double>(values_.size());
  y_.push_back(y_.back() + value);
  ky_.push_back(ky_.back() + k * value);
  kky_.push_back(kky_.back() + k * k * value);
  yy_.push_back(yy_.back() + value * value);
  lagged_.push_back(lagged_.back() + value * (values_.empty() ? 0 : values_.back()));
  values_.push_back(value);
}

void GrowingSegment::pop() {
  values_.pop_back();
  for (std::vector<double>* sums : {&y_, &ky_, &kky_, &yy_, &lagged_}) sums->pop_back();
}

double GrowingSegment::sum_kk(std::size_t from, double rho) const {
  const std::size_t m = size();
  const double before = y_[m - 1] - y_[from - 1];
  return (kky_[m] - kky_[from]) - rho * ((kky_[m - 1] - kky_[from - 1]) + 2 * (ky_[m - 1] - ky_[from - 1]) + before);
}

double GrowingSegment::squares(double rho) const {
  const double all = yy_.back(), last = values_.back();  // the first value is 0
  return all - 2 * rho * lagged_.back() + rho * rho * (all - last * last);
}

}  // namespace aaco::stats
