#include "workflows/run/live_blocks.h"

#include <algorithm>
#include <cmath>

#include "core/clock.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kFirstEstimate = 6;     // stats::minimum_count(0.5)
constexpr std::size_t kManyCalls = 20'000;    // beyond, the estimate is renewed less often: it reads them all
constexpr std::size_t kCallsOfP99 = 100;      // stats::stated_count(0.99)
constexpr double kMinRatioOfTimeLeft = 0.02;  // below, the time left is a guess

double width_ratio(const stats::Quantile& median) {
  return median.value > 0 ? (median.ci95->high - median.ci95->low) / median.value : 0;
}

}  // namespace

LiveGoal live_goal(const stats::StoppingOptions& goal, std::int64_t count, std::int64_t elapsed_ns, std::int64_t wall_ns,
                   std::optional<double> interval_ratio) {
  using Kind = stats::StoppingOptions::Kind;
  const auto share = [](double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 1.0; };
  LiveGoal now;
  const double by_limit = std::max(share(static_cast<double>(count), static_cast<double>(goal.maximum_iterations)),
                                   share(static_cast<double>(elapsed_ns), static_cast<double>(goal.maximum_time_ns)));
  if (goal.kind == Kind::iterations) now.ratio = share(static_cast<double>(count), static_cast<double>(goal.iterations));
  if (goal.kind == Kind::time) now.ratio = share(static_cast<double>(elapsed_ns), static_cast<double>(goal.time_ns));
  // The interval narrows with the root of the number of calls.
  if (goal.kind == Kind::precision && interval_ratio)
    now.ratio = *interval_ratio > 0 ? std::min(1.0, std::pow(goal.precision_ratio / *interval_ratio, 2)) : 1.0;
  if (now.ratio) now.ratio = std::max(*now.ratio, by_limit);
  if (now.ratio && *now.ratio >= kMinRatioOfTimeLeft)
    now.left_s = static_cast<double>(wall_ns) * (1 - *now.ratio) / *now.ratio / 1e9;
  return now;
}

LiveBlocks::LiveBlocks(runner::BlockObserver& inner, LiveRecord& record, const stats::StoppingOptions& goal, std::string model,
                       const Services& services)
    : inner_(inner), record_(record), goal_(goal), model_(std::move(model)), services_(services), next_estimate_(kFirstEstimate) {
  record_.phase("warming up");
  services_.progress("warming up " + model_);
}

void LiveBlocks::begin_measuring() {
  began_ns_ = core::monotonic_ns();
  record_.phase("measuring");
}

// As often as the stopping rule looks at its precision: each time the series has grown by a tenth.
void LiveBlocks::estimate() {
  if (all_.size() < next_estimate_) return;
  next_estimate_ = all_.size() + std::max<std::size_t>(1, all_.size() / (all_.size() < kManyCalls ? 10 : 2));
  median_ = stats::summarize(all_).p50;
}

void LiveBlocks::after_block(std::span<const runner::TimedCall> calls) {
  inner_.after_block(calls);
  if (calls.empty()) return;
  scratch_.clear();
  for (const runner::TimedCall& call : calls) {
    scratch_.push_back(static_cast<double>(call.duration_ns));
    elapsed_ns_ += call.duration_ns;
  }
  all_.insert(all_.end(), scratch_.begin(), scratch_.end());
  std::sort(scratch_.begin(), scratch_.end());
  estimate();
  const bool interval = median_ && median_->ci95;
  const std::optional<double> width = interval ? std::optional(width_ratio(*median_)) : std::nullopt;
  const std::int64_t now_ns = core::monotonic_ns();
  const LiveGoal goal = live_goal(goal_, static_cast<std::int64_t>(all_.size()), elapsed_ns_, now_ns - began_ns_, width);
  Json line = Json::object({{"time_ns", now_ns},
                            {"count", scratch_.size()},
                            {"min_ns", scratch_.front()},
                            {"p50_ns", stats::quantile_of_sorted(scratch_, 0.5)},
                            {"max_ns", scratch_.back()}});
  if (scratch_.size() >= 10) line.set("p90_ns", stats::quantile_of_sorted(scratch_, 0.9));
  if (scratch_.size() >= kCallsOfP99) line.set("p99_ns", stats::quantile_of_sorted(scratch_, 0.99));
  line.set("iterations", all_.size());
  if (median_) line.set("median_ns", median_->value);
  if (interval) line.set("median_low_ns", median_->ci95->low).set("median_high_ns", median_->ci95->high);
  record_.line(line.set_if("done_ratio", Json(goal.ratio)).set_if("left_s", Json(goal.left_s)));

  std::string text = "measuring " + model_ + ": " + core::format_count(static_cast<double>(all_.size())) + " iterations";
  if (median_) text += ", median " + core::format_duration(median_->value);
  if (width) text += " ±" + core::format_percent(*width / 2);
  if (goal.ratio) text += ", " + core::format_confidence(*goal.ratio);
  if (goal.left_s && *goal.left_s >= 1) text += ", " + std::to_string(std::llround(*goal.left_s)) + " s left";
  services_.progress(text);
}

}  // namespace aaco::workflows
