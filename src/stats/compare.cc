#include "stats/compare.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "stats/distributions.h"
#include "stats/order_statistics.h"

namespace aaco::stats {
namespace {

using SessionSeries = std::span<const std::vector<double>>;

constexpr double kManyDegrees = 1000;  // of a deviation that is assumed
constexpr double kLargestLoss = 0.99;  // a threshold beyond it is none on the side of losses
constexpr int kRounds = 40;            // of the fixed point: each is nearer by far than the last
constexpr double kMaxMore = 1000;      // times the data there is: beyond that, more data is no advice

core::Status check_options(const CompareOptions& options) {
  const auto share = [](double value) { return value > 0 && value < 1; };
  if (!(options.threshold_ratio >= 0) || !share(options.level) || !share(options.power) || options.resamples < 100 ||
      (options.statistic && !share(*options.statistic)) || !(options.assumed_deviation_ratio >= 0))
    return core::fail(
        core::ErrorCode::invalid_argument,
        "invalid comparison settings: threshold must be >= 0; level, power and quantile between 0 and 1; resamples >= 100");
  if (options.history_deviation_ratio && (!(*options.history_deviation_ratio >= 0) || options.history_count < 2))
    return core::fail(core::ErrorCode::invalid_argument,
                      "the historical deviation must be >= 0 and based on at least 2 sessions");
  return {};
}

core::Status check_side(SessionSeries sessions, StatisticChoice statistic, std::string_view name) {
  const auto refuse = [&](std::string what, std::string remedy = {}) {
    return core::fail(core::ErrorCode::invalid_input, "the " + std::string(name) + " " + what, std::move(remedy));
  };
  if (sessions.empty()) return refuse("has no sessions");
  const bool median_or_mean = !statistic || *statistic == 0.5;
  const std::int64_t needed = median_or_mean && sessions.size() > 1 ? 1 : minimum_count(statistic.value_or(0.5));
  for (const std::vector<double>& series : sessions) {
    if (static_cast<std::int64_t>(series.size()) < needed)
      return refuse("has a session with only " + std::to_string(series.size()) + " values, too few for the compared statistic",
                    "measure at least " + std::to_string(needed) + " iterations");
    if (!std::all_of(series.begin(), series.end(), [](double value) { return std::isfinite(value) && value > 0; }))
      return refuse("has values that are not positive, so no ratio can be computed");
  }
  return {};
}

// All iterations of a side as one sample, worth what its sessions are worth together.
struct Pooled {
  std::vector<double> values;
  double effective_count = 0;
  [[nodiscard]] SampleView view() const { return {values, effective_count}; }
};

Pooled pool(SessionSeries sessions, double effective_count) {
  Pooled pooled{{}, effective_count};
  for (const std::vector<double>& series : sessions) pooled.values.insert(pooled.values.end(), series.begin(), series.end());
  return pooled;
}

// What is known of the variance between sessions for a side of one session: history, else the other side's, else what is assumed.
std::optional<BetweenSessions> elsewhere(const CompareOptions& options, const SideEstimate* other) {
  if (options.history_deviation_ratio)
    return BetweenSessions{std::pow(std::log1p(*options.history_deviation_ratio), 2),
                           static_cast<double>(options.history_count - 1)};
  if (other != nullptr && other->between_known) return BetweenSessions{other->between_variance, other->degrees_of_freedom};
  if (options.assumed_deviation_ratio > 0)
    return BetweenSessions{std::pow(std::log1p(options.assumed_deviation_ratio), 2), kManyDegrees};
  return std::nullopt;
}

struct Sides {
  SideEstimate a, b;
};

Sides resample(SessionSeries a, SessionSeries b, const CompareOptions& options) {
  const core::Random seed(options.seed);
  core::Random random_a = seed.fork(0), random_b = seed.fork(1);
  const auto side = [&](SessionSeries sessions, const SideEstimate* other, core::Random& random) {
    return resample_side(sessions, options.statistic, options.resamples, elsewhere(options, other), random);
  };
  Sides sides;
  if (a.size() == 1 && b.size() > 1) {
    sides.b = side(b, nullptr, random_b);
    sides.a = side(a, &sides.b, random_a);
  } else {
    sides.a = side(a, nullptr, random_a);
    sides.b = side(b, b.size() == 1 ? &sides.a : nullptr, random_b);
  }
  return sides;
}

double freedom(const Sides& sides) {
  const double sum = sides.a.variance + sides.b.variance;
  if (sum <= 0) return sides.a.degrees_of_freedom + sides.b.degrees_of_freedom;
  return sum * sum /
         (sides.a.variance * sides.a.variance / sides.a.degrees_of_freedom +
          sides.b.variance * sides.b.variance / sides.b.degrees_of_freedom);
}

void add_interval(const Sides& sides, const CompareOptions& options, Comparison& result) {
  std::vector<double> deviations(sides.a.deviations.size());
  for (std::size_t i = 0; i < deviations.size(); ++i) deviations[i] = sides.b.deviations[i] - sides.a.deviations[i];
  std::sort(deviations.begin(), deviations.end());
  const double degrees = freedom(sides);
  const double upper = (1 + options.level) / 2;
  const double critical = student_t_quantile(upper, degrees);
  const double widening = critical / normal_quantile(upper);
  const double centre = sides.b.log_value - sides.a.log_value;
  const double low = widening * quantile_of_sorted(deviations, 1 - upper);
  const double high = widening * quantile_of_sorted(deviations, upper);
  result.delta_ratio = std::expm1(centre);
  result.interval = {std::expm1(centre + low), std::expm1(centre + high)};
  const double error = std::sqrt(sides.a.variance + sides.b.variance);
  result.log_change = centre;
  result.standard_error = error;
  result.degrees_of_freedom = degrees;
  result.p_value = change_p_value(centre, error, degrees);
  result.noise = {(high - low) / (2 * critical), degrees};
  result.detectable = smallest_detectable(result.noise, {options.threshold_ratio, options.level, options.power});
}

constexpr std::int64_t kReplacingSessions = 2;  // per side: three tell the deviation between them

// One more session on one side, at distance d (of logs) from its twin, tells the variance between sessions: d^2 / 2 with one
// degree of freedom. The side of two then has d^2 / 4, that of one d^2 / 2, together 1.8 degrees (Welch and Satterthwaite); the
// scatter within the sessions is what the standard error has beside the assumption. Towards the threshold it takes d / 2 off the
// change. Decided while t^2 * (0.75 d^2 + within) < (distance - d / 2)^2; solved for d.
std::optional<double> third_session_within(double distance, const CompareOptions& options, const Comparison& result) {
  constexpr double kDegrees = 1.8, kVariances = 0.75;
  const double assumed = 2 * std::pow(std::log1p(options.assumed_deviation_ratio), 2);
  const double within = std::max(0.0, result.standard_error * result.standard_error - assumed);
  const double t = student_t_quantile((1 + options.level) / 2, kDegrees);
  const double square = kVariances * t * t - 0.25, constant = t * t * within - distance * distance;
  if (constant >= 0) return std::nullopt;
  return std::expm1((std::sqrt(distance * distance - 4 * square * constant) - distance) / (2 * square));
}

// The interval shrinks with the root of the data, and by what Student's t asks less of more sessions: how many times as much
// until a change at this distance from the nearest threshold is detected with the power asked for, as the smallest detectable
// change is. Of few sessions t is most of the width.
void add_what_decides(std::size_t sessions, std::size_t iterations, const CompareOptions& options, Comparison& result) {
  const double change = result.log_change;
  const double distance = std::min(std::abs(change - std::log1p(options.threshold_ratio)),
                                   std::abs(change - std::log1p(-std::min(options.threshold_ratio, kLargestLoss))));
  if (distance <= 0) return;
  double times = 1;
  for (int round = 0; round < kRounds && times <= kMaxMore; ++round)
    times = std::max(1.0, std::pow(detectable_distance({result.noise.standard_error, result.degrees_of_freedom * times},
                                                       options.level, options.power) /
                                       distance,
                                   2));
  if (times > kMaxMore) return;
  const auto more = [&](std::size_t have) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((times - 1) * static_cast<double>(have))));
  };
  // A deviation that is assumed, or of other sessions, says little of how many would do: the next ones replace it.
  const bool replaced = result.between_sessions_assumed || options.history_deviation_ratio;
  result.more_sessions = replaced ? std::min(kReplacingSessions, more(sessions)) : more(sessions);
  if (result.between_sessions_assumed) result.third_session_within_ratio = third_session_within(distance, options, result);
  if (sessions == 1 && !result.between_sessions_known && !result.between_sessions_assumed)
    result.more_iterations = more(iterations);
}

std::string describe(const Comparison& result, const CompareOptions& options) {
  std::string text = std::string(to_string(result.verdict)) + ": " + core::format_signed_percent(result.delta_ratio) + ", " +
                     core::format_percent(options.level) + " interval " + core::format_signed_percent(result.interval.low) +
                     " to " + core::format_signed_percent(result.interval.high) + ", threshold " +
                     core::format_percent(options.threshold_ratio);
  if (result.between_sessions_assumed)
    text += "; one session per side: session-to-session deviation assumed to be " +
            core::format_percent(options.assumed_deviation_ratio);
  else if (!result.between_sessions_known)
    text += "; one session per side: session-to-session variance unknown";
  if (result.verdict != Verdict::inconclusive) return text;
  if (result.more_iterations)
    return text + "; about " + std::to_string(*result.more_iterations) +
           (*result.more_iterations == 1 ? " more iteration" : " more iterations") + " per side needed to decide";
  if (result.third_session_within_ratio)
    text += "; a third session would decide if it reproduces the one on its side within " +
            core::format_percent(*result.third_session_within_ratio);
  if (result.more_sessions && (result.between_sessions_assumed || options.history_deviation_ratio))
    return text + "; measuring " + std::to_string(*result.more_sessions) + " more per side replaces the " +
           (result.between_sessions_assumed ? "assumed" : "stored") + " deviation between sessions";
  if (result.more_sessions)
    return text + "; about " + std::to_string(*result.more_sessions) +
           (*result.more_sessions == 1 ? " more session" : " more sessions") + " per side needed to decide";
  if (is_noisy(result.detectable, options.threshold_ratio))
    return text + "; the variation within a side is too large for a few more sessions to decide";
  return text + "; the change is too close to the threshold for more data to decide";
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::regression: return "regression";
    case Verdict::improvement: return "improvement";
    case Verdict::equivalent: return "equivalent";
    case Verdict::inconclusive: return "inconclusive";
  }
  return "inconclusive";
}

VerdictShares verdict_shares(double log_change, double standard_error, double degrees_of_freedom, double threshold_ratio,
                             bool lower_is_better) {
  const auto below = [&](double limit) {
    if (standard_error > 0) return student_t_cdf((limit - log_change) / standard_error, degrees_of_freedom);
    return log_change <= limit ? 1.0 : 0.0;
  };
  const double slower = 1 - below(std::log1p(threshold_ratio));
  const double faster = threshold_ratio < 1 ? below(std::log1p(-threshold_ratio)) : 0;
  const double inside = std::max(0.0, 1 - slower - faster);
  return lower_is_better ? VerdictShares{slower, inside, faster} : VerdictShares{faster, inside, slower};
}

double change_p_value(double log_change, double standard_error, double degrees_of_freedom) {
  if (standard_error <= 0) return log_change == 0 ? 1 : 0;
  return 2 * (1 - student_t_cdf(std::abs(log_change) / standard_error, degrees_of_freedom));
}

Verdict judge(const Interval& delta, double threshold_ratio, bool lower_is_better) {
  if (delta.low > threshold_ratio) return lower_is_better ? Verdict::regression : Verdict::improvement;
  if (delta.high < -threshold_ratio) return lower_is_better ? Verdict::improvement : Verdict::regression;
  if (delta.low > -threshold_ratio && delta.high < threshold_ratio) return Verdict::equivalent;
  return Verdict::inconclusive;
}

core::Result<Comparison> compare(SessionSeries a, SessionSeries b, const CompareOptions& options) {
  AACO_TRY(check_options(options));
  AACO_TRY(check_side(a, options.statistic, "baseline"));
  AACO_TRY(check_side(b, options.statistic, "candidate"));
  const Sides sides = resample(a, b, options);
  Comparison result;
  result.baseline = std::exp(sides.a.log_value);
  result.candidate = std::exp(sides.b.log_value);
  result.between_sessions_known = a.size() > 1 || b.size() > 1 || options.history_deviation_ratio;
  result.between_sessions_assumed = !result.between_sessions_known && options.assumed_deviation_ratio > 0;
  add_interval(sides, options, result);
  result.verdict = judge(result.interval, options.threshold_ratio, options.lower_is_better);
  const Pooled of_a = pool(a, sides.a.effective_count), of_b = pool(b, sides.b.effective_count);
  result.welch = welch_test(of_a.view(), of_b.view());
  result.rank = rank_test(of_a.view(), of_b.view());
  result.shift = shift_estimate(of_a.view(), of_b.view());
  if (result.verdict == Verdict::inconclusive)
    add_what_decides(std::min(a.size(), b.size()), std::min(of_a.values.size(), of_b.values.size()), options, result);
  result.explanation = describe(result, options);
  return result;
}

}  // namespace aaco::stats
