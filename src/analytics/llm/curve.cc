#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analytics/llm.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

constexpr double kHardly = 0.1;  // growth up to which throughput hardly grows
constexpr double kFalls = 0.05;  // loss from which it falls
constexpr double kLongerSteps = 1.3;

// An open loop ("rate 10/s") loads by its rate: beyond the server's capacity the open requests grow without a higher load.
double load_ratio(const Load& before, const Load& after) {
  const bool open_loop = after.name.starts_with("rate ") && before.offered_per_second > 0;
  return open_loop ? after.offered_per_second / before.offered_per_second : after.mean_open / std::max(1e-9, before.mean_open);
}

// Throughput after over before: in tokens, whose lengths do not scatter as requests do, where both are known.
double gain(const Load& before, const Load& after) {
  const Rates &from = rates_that_count(before), &to = rates_that_count(after);
  if (from.output_tokens_per_second && to.output_tokens_per_second && *from.output_tokens_per_second > 0)
    return *to.output_tokens_per_second / *from.output_tokens_per_second;
  return to.requests_per_second / std::max(1e-9, from.requests_per_second);
}

// Throughput grew by at least kKneeGain of what the load grew.
bool still_grows(const Load& before, const Load& after) {
  return gain(before, after) - 1 >= kKneeGain * (load_ratio(before, after) - 1);
}

// The time that an answer takes once its work has begun, of the two levels the longer; both have the medians.
double answer_ns(const Load& lowest, const Load& load) {
  return std::max(lowest.e2el.p50->value, load.e2el.p50->value - load.ttft.p50->value);
}

bool has_medians(const Load& load) { return load.ttft.p50 && load.e2el.p50; }

// Requests wait for others before their own work begins: the median TTFT is above that of the lowest level by kQueueShare of the
// time that an answer takes, and the intervals are apart.
bool queues(const Load& lowest, const Load& load) {
  if (!has_medians(lowest) || !has_medians(load)) return false;
  const stats::Quantile &before = *lowest.ttft.p50, &now = *load.ttft.p50;
  return now.value - before.value > kQueueShare * answer_ns(lowest, load) &&
         (!before.ci95 || !now.ci95 || now.ci95->low > before.ci95->high);
}

// A part of the requests does, which the median does not show.
bool waits_at(const Load& lowest, const Load& load) {
  const std::int64_t waiting = waiting_requests(lowest, load);
  return waiting >= kFewestWaiting &&
         static_cast<double>(waiting) >= kWaitingShare * static_cast<double>(load.ttft_values.size());
}

// Whether a later level has a higher throughput than `at`, beyond the interval of its mean latency (throughput is the open
// requests over it), but at most kSameThroughput.
bool is_exceeded(std::span<const Load* const> loads, std::size_t at) {
  constexpr double kMinThroughput = 0.01, kSameThroughput = 0.05;  // relative
  const Load& load = *loads[at];
  double interval = 0;
  if (load.e2el.mean && load.e2el.mean_ci95 && *load.e2el.mean > 0)
    interval = (load.e2el.mean_ci95->high - load.e2el.mean_ci95->low) / 2 / *load.e2el.mean;
  const double most = 1 + std::clamp(interval, kMinThroughput, kSameThroughput);
  return std::any_of(loads.begin() + static_cast<std::ptrdiff_t>(at) + 1, loads.end(),
                     [&](const Load* later) { return gain(load, *later) > most; });
}

// The knee among the levels that hold, as an index into them.
std::optional<std::size_t> knee_of(std::span<const Load* const> holds, Curve& curve) {
  std::optional<std::size_t> knee;
  for (std::size_t i = 1; i < holds.size(); ++i) {
    const bool grows = still_grows(*holds[i - 1], *holds[i]);
    curve.flat_steps = grows ? 0 : curve.flat_steps + 1;
    curve.stopped_growing = !grows && gain(*holds[i - 1], *holds[i]) < 1 + kNoGain;
    if (!curve.queues && queues(*holds.front(), *holds[i])) {
      knee = i - 1;
      curve.queues = true;
    }
    if (!knee && !grows) knee = i - 1;
  }
  // Where requests wait already and a lower level has the throughput, that one is the knee. One processor that all requests share
  // has its throughput from the start, and nobody waits until the slots are taken.
  while (curve.queues && *knee > 0 && waits_at(*holds.front(), *holds[*knee]) && !is_exceeded(holds, *knee - 1)) --*knee;
  return knee;
}

// "hardly grows", or by how much it does or falls, from the knee to the level beyond it with the most.
std::string beyond(std::span<const Load> loads, std::size_t knee) {
  std::size_t best = knee + 1;
  for (std::size_t i = knee + 1; i < loads.size(); ++i)
    if (!fails_often(loads[i]) && gain(loads[best], loads[i]) > 1) best = i;
  const double grown = gain(loads[knee], loads[best]) - 1;
  if (grown < -kFalls) return fmt::format("beyond it throughput falls by {}", core::format_percent(-grown));
  if (grown <= kHardly) return "beyond it throughput hardly grows";
  return fmt::format("beyond it throughput grows by only {} for {:.2g} times the load", core::format_percent(grown),
                     load_ratio(loads[knee], loads[best]));
}

// A server that computes all requests in one batch: each step takes longer.
std::string longer_steps(std::span<const Load> loads, std::size_t knee) {
  const Load* last = nullptr;
  for (const Load& load : loads.subspan(knee + 1))
    if (!fails_often(load) && load.tpot.p50) last = &load;
  const auto& before = loads[knee].tpot.p50;
  if (last == nullptr || !before || last->tpot.p50->value < kLongerSteps * before->value) return {};
  return fmt::format(", and each step takes longer in a larger batch (TPOT {} at it, {} at {})",
                     core::format_duration(before->value), core::format_duration(last->tpot.p50->value), last->name);
}

std::string failures_at(const Load& load) {
  const auto most = std::max_element(load.failures.begin(), load.failures.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} of {} requests fail at {}{}", load.requests - load.complete, load.requests, load.name,
                     most == load.failures.end() ? "" : " (" + most->first + ")");
}

std::string slo_sentence(std::span<const Load> loads, const Curve& curve, const Slo& slo) {
  const auto unjudged = [&](const Load& load) { return is_unjudged(load, slo); };
  if (!curve.last_within_slo)
    return fmt::format("; no level {} {}", std::any_of(loads.begin(), loads.end(), unjudged) ? "is known to meet" : "meets",
                       to_string(slo));
  const std::size_t next = *curve.last_within_slo + 1;
  if (next == loads.size()) return ", the highest level that meets the SLO";
  if (unjudged(loads[next])) return ", the highest level that is known to meet the SLO";
  if (fails_often(loads[next])) return ", the highest level that meets the SLO; beyond it " + failures_at(loads[next]);
  return fmt::format(", the highest level that meets the SLO{}",
                     curve.queues ? "; beyond it requests queue" : "; the next one breaks it");
}

}  // namespace

std::int64_t waiting_requests(const Load& lowest, const Load& load) {
  if (!has_medians(lowest) || !has_medians(load)) return 0;
  const double most = lowest.ttft.p50->value + kQueueShare * answer_ns(lowest, load);
  return std::count_if(load.ttft_values.begin(), load.ttft_values.end(), [&](double ttft) { return ttft > most; });
}

Curve judge_curve(std::span<const Load> loads, const Slo& slo, const std::vector<bool>& server_queued) {
  Curve curve;
  std::vector<const Load*> holds;
  std::vector<std::size_t> place;  // of each of them
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!slo.empty() && keeps(loads[i], slo)) curve.last_within_slo = i;
    if (fails_often(loads[i])) {
      if (!curve.fails) curve.fails = i;
      continue;
    }
    curve.fails.reset();
    holds.push_back(&loads[i]);
    place.push_back(i);
  }
  std::optional<std::size_t> knee = knee_of(holds, curve);
  if (!knee && curve.fails && !holds.empty()) knee = holds.size() - 1;
  if (!knee) return curve;
  curve.knee = place[*knee];
  curve.queues_at_knee =
      waits_at(*holds.front(), *holds[*knee]) || (*curve.knee < server_queued.size() && server_queued[*curve.knee]);
  return curve;
}

std::size_t level_that_counts(std::span<const Load> loads, const Curve& curve) {
  if (curve.last_within_slo) return *curve.last_within_slo;
  if (curve.knee && curve.queues) return *curve.knee;  // beyond it throughput differs by chance, and latency is waiting
  const bool none_holds = std::all_of(loads.begin(), loads.end(), fails_often);
  std::size_t best = loads.size();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!none_holds && fails_often(loads[i])) continue;
    if (best == loads.size() ||
        (none_holds ? failed_share(loads[i]) < failed_share(loads[best]) : gain(loads[best], loads[i]) > 1))
      best = i;
  }
  return best;
}

std::string curve_sentence(std::span<const Load> loads, const Curve& curve, const Slo& slo) {
  if (loads.size() < 2) return {};
  if (!slo.empty()) return slo_sentence(loads, curve, slo);
  if (curve.knee && curve.queues)
    return curve.queues_at_knee ? ", the knee: requests queue at it already, and longer beyond it"
                                : ", the knee: beyond it requests queue";
  const bool until_failures = curve.fails && curve.knee && *curve.knee < *curve.fails;
  const auto counts = level_that_counts(loads, curve);
  if (until_failures && counts <= *curve.knee)
    return fmt::format("{}: beyond it {}",
                       counts == *curve.knee ? std::string(", the knee") : fmt::format("; knee at {}", loads[*curve.knee].name),
                       failures_at(loads[*curve.fails]));
  if (curve.knee)
    return fmt::format("; knee at {}: {}{}", loads[*curve.knee].name, beyond(loads, *curve.knee),
                       longer_steps(loads, *curve.knee)) +
           (curve.fails ? "; " + failures_at(loads[*curve.fails]) : std::string());
  if (curve.fails) return "; " + failures_at(loads[*curve.fails]);
  return fmt::format("; no knee up to {}", loads.back().name);
}

}  // namespace aaco::analytics::llm
