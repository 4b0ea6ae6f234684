#include "workflows/compare/distributions.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stats/summary.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kBins = 60;
constexpr double kInnerQuantile = 0.99;
constexpr double kBulkQuantile = 0.9, kMaxOfBulk = 4;  // the drawing ends at so many times what most calls need

std::vector<double> sorted_iterations(const ComparedSide& side) {
  std::vector<double> all;
  for (const ComparedSession& session : side.sessions)
    std::copy_if(session.iterations.begin(), session.iterations.end(), std::back_inserter(all),
                 [](double one) { return std::isfinite(one) && one >= 0; });
  std::sort(all.begin(), all.end());
  return all;
}

Distributions::Side binned_side(const std::vector<double>& sorted, double low_ns, double high_ns) {
  Distributions::Side side;
  side.count.assign(kBins, 0);
  side.total = static_cast<std::int64_t>(sorted.size());
  const double width = (high_ns - low_ns) / static_cast<double>(kBins);
  for (const double value : sorted)
    ++side.count[std::min(kBins - 1, static_cast<std::size_t>(std::max(0.0, (value - low_ns) / width)))];
  side.p50_ns = stats::quantile_of_sorted(sorted, 0.5);
  side.p90_ns = stats::quantile_of_sorted(sorted, 0.9);
  side.p99_ns = stats::quantile_of_sorted(sorted, 0.99);
  return side;
}

core::Json to_json(const Distributions::Side& side) {
  core::Json count = core::Json::array();
  for (const std::int64_t one : side.count) count.push(one);
  return core::Json::object({{"total", side.total},
                             {"p50_ns", side.p50_ns},
                             {"p90_ns", side.p90_ns},
                             {"p99_ns", side.p99_ns},
                             {"count", std::move(count)}});
}

}  // namespace

std::optional<Distributions> distributions_of(const ComparedSide& a, const ComparedSide& b) {
  if (a.sessions.empty() || b.sessions.empty() || a.sessions.front().scope != b.sessions.front().scope) return std::nullopt;
  const std::vector<double> of_a = sorted_iterations(a), of_b = sorted_iterations(b);
  if (of_a.size() < kFewestDistributed || of_b.size() < kFewestDistributed) return std::nullopt;
  Distributions out;
  out.scope = a.sessions.front().scope;
  out.low_ns = std::min(of_a.front(), of_b.front());
  const auto of_either = [&](double at) {
    return std::max(stats::quantile_of_sorted(of_a, at), stats::quantile_of_sorted(of_b, at));
  };
  // Few calls that took a thousand times longer would put all others into the first bin.
  const double bulk = of_either(kBulkQuantile) - out.low_ns;
  out.high_ns = of_either(kInnerQuantile);
  if (bulk > 0) out.high_ns = std::min(out.high_ns, out.low_ns + kMaxOfBulk * bulk);
  if (!(out.high_ns > out.low_ns)) return std::nullopt;
  out.a = binned_side(of_a, out.low_ns, out.high_ns);
  out.b = binned_side(of_b, out.low_ns, out.high_ns);
  return out;
}

core::Json to_json(const Distributions& distributions) {
  return core::Json::object({{"scope", distributions.scope},
                             {"low_ns", distributions.low_ns},
                             {"high_ns", distributions.high_ns},
                             {"baseline", to_json(distributions.a)},
                             {"candidate", to_json(distributions.b)}});
}

}  // namespace aaco::workflows
