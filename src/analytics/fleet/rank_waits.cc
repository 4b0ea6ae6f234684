#include "analytics/rank_waits.h"

#include <algorithm>
#include <map>
#include <set>

#include "stats/distributions.h"
#include "stats/robust.h"

namespace aaco::analytics::fleet {
namespace {

constexpr double kMinLastShare = 0.75;
constexpr double kMinLateShare = 0.01;  // of the time observed
constexpr std::int64_t kMinInstances = 3;

using CallsOfRank = std::map<std::int32_t, std::vector<RankCall>>;

// The k-th call of an operation is the same instance on all ranks if all ranks have equally many.
bool are_matched(const CallsOfRank& ranks, std::size_t all_ranks) {
  if (ranks.size() != all_ranks) return false;
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const auto& one) { return one.second.size() == ranks.begin()->second.size(); });
}

struct LastCount {
  std::int64_t last = 0;
  std::vector<double> late_ns;
};

std::map<std::int32_t, LastCount> count_last(const CallsOfRank& ranks) {
  std::map<std::int32_t, LastCount> out;
  for (std::size_t k = 0; k < ranks.begin()->second.size(); ++k) {
    std::int32_t last = -1;
    std::int64_t shortest = INT64_MAX;
    std::int64_t longest = 0;
    for (const auto& [rank, calls] : ranks) {
      const std::int64_t duration = calls[k].end_ns - calls[k].start_ns;
      longest = std::max(longest, duration);
      if (duration >= shortest) continue;
      shortest = duration;
      last = rank;
    }
    ++out[last].last;
    out[last].late_ns.push_back(static_cast<double>(longest - shortest));
  }
  return out;
}

}  // namespace

LateRank late_rank(std::span<const RankCall> calls) {
  LateRank out;
  std::map<std::string, CallsOfRank> operations;
  std::set<std::int32_t> ranks;
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const RankCall& call : calls) {
    operations[call.operation][call.rank].push_back(call);
    ranks.insert(call.rank);
    if (call.rank != calls.front().rank) continue;  // clocks of ranks may differ
    first = std::min(first, call.start_ns);
    last = std::max(last, call.end_ns);
  }
  out.ranks = static_cast<std::int32_t>(ranks.size());
  const auto refuse = [&](std::string reason) {
    out.cannot_tell = true;
    out.reason = std::move(reason);
    return out;
  };
  if (ranks.size() < 2) return refuse("the session has collectives of fewer than two ranks");
  std::erase_if(operations, [&](auto& one) { return !are_matched(one.second, ranks.size()); });
  if (operations.empty()) return refuse("the ranks have different numbers of collectives, so that they cannot be matched");
  double best_p = 2;
  for (auto& [operation, of_rank] : operations) {
    for (auto& [rank, list] : of_rank)
      std::sort(list.begin(), list.end(), [](const RankCall& a, const RankCall& b) { return a.start_ns < b.start_ns; });
    const auto count = static_cast<std::int64_t>(of_rank.begin()->second.size());
    for (const auto& [rank, one] : count_last(of_rank)) {
      double sum = 0;
      for (const double late : one.late_ns) sum += late;
      const double share = sum / static_cast<double>(std::max<std::int64_t>(1, last - first));
      if (count < kMinInstances || static_cast<double>(one.last) < kMinLastShare * static_cast<double>(count) ||
          share < kMinLateShare)
        continue;
      // Any rank of any operation could have come out like this.
      const double p = std::min(1.0, static_cast<double>(operations.size() * ranks.size()) *
                                         (1 - stats::binomial_cdf(one.last - 1, count, 1.0 / static_cast<double>(ranks.size()))));
      if (p >= best_p) continue;
      best_p = p;
      out.rank = rank;
      out.operation = operation;
      out.last_count = one.last;
      out.count = count;
      out.late_ns = stats::median(one.late_ns);
      out.late_ratio = share;
      out.confidence = 1 - p;
    }
  }
  return out;
}

}  // namespace aaco::analytics::fleet
