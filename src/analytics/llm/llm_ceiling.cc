#include "analytics/llm_ceiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

constexpr double kLowestPerSecond = 100;      // below it a search ends without a ceiling
constexpr double kHighestPerSecond = 2.56e6;  // no client of one thread gets here

}  // namespace

bool keeps_up(const CeilingStep& step) {
  return step.received_per_second >= kKeptUp * step.planned_per_second && step.client_cpu_ratio <= kBusyClient;
}

bool server_is_limit(const CeilingStep& step) {
  if (step.received_per_second >= kKeptUp * step.planned_per_second) return false;
  return step.server_cpu_ratio >= kBusyServer || step.client_cpu_ratio + step.client_run_queue_ratio <= kBusyClient;
}

CeilingSearch::CeilingSearch(double first_per_second, double tolerance_ratio)
    : first_(first_per_second), tolerance_(tolerance_ratio) {}

std::optional<double> CeilingSearch::next() const {
  if (!best_ && !too_high_) return first_;
  if (!best_) return *too_high_ / 2 < kLowestPerSecond ? std::optional<double>() : *too_high_ / 2;
  const double best = best_->planned_per_second;
  if (!too_high_) return 2 * best > kHighestPerSecond ? std::optional<double>() : 2 * best;
  if (*too_high_ / best <= 1 + tolerance_) return std::nullopt;
  return std::sqrt(best * *too_high_);
}

void CeilingSearch::add(const CeilingStep& step) {
  if (keeps_up(step)) {
    if (!best_ || step.planned_per_second > best_->planned_per_second) best_ = step;
  } else if (!too_high_ || step.planned_per_second < *too_high_) {
    too_high_ = step.planned_per_second;
    server_limited_ = server_is_limit(step);
  }
}

int CeilingSearch::most_left() const {
  CeilingSearch worst = *this;
  int left = 0;
  // Doubled as long as there is room above; from then on nothing is kept up with.
  for (auto rate = worst.next(); rate && !worst.too_high_; rate = worst.next()) {
    const bool last = 2 * *rate > kHighestPerSecond;
    worst.add({.planned_per_second = *rate, .received_per_second = last ? 0 : *rate});
    left += last ? 2 : 1;
  }
  for (auto rate = worst.next(); rate; rate = worst.next(), left += 2) worst.add({.planned_per_second = *rate});
  return left;
}

void judge_ceiling(const Load& load, const std::optional<double>& ceiling_chunks_per_second, OwnLimit& limit) {
  if (!ceiling_chunks_per_second) return;
  const double rate = std::max(load.chunks_per_second, load.offered_tokens_per_second.value_or(0));
  if (rate <= *ceiling_chunks_per_second) return;
  limit.reasons.push_back(fmt::format("the load of {} chunks/s is above the ceiling of this client, {} chunks/s (--self-test)",
                                      core::format_count(std::round(rate)),
                                      core::format_count(std::round(*ceiling_chunks_per_second))));
  limit.limited = limit.saturated = true;
  if (!limit.vouched_per_second && rate > 0)
    limit.vouched_per_second = load.rates.requests_per_second * kVouchedClient * *ceiling_chunks_per_second / rate;
}

}  // namespace aaco::analytics::llm
