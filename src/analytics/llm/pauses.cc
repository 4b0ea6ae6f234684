#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analytics/llm.h"
#include "analytics/llm/token_gaps.h"
#include "analytics/llm_slow.h"
#include "core/numbers.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::size_t kFewestRequests = 2;  // one alone does not tell a pause of the server from one of its own
constexpr double kTogether = 0.8;           // of each gap lies within those of the others
constexpr double kReadInTime = 0.25;        // of a gap: the client read no later than so
constexpr double kPeriodError = 0.1;
constexpr std::int64_t kFewestOfAPeriod = 3;

// A gap that is much longer than those before and after it of the same request.
struct Standstill {
  const TokenGap* gap = nullptr;
  double usual_ns = 0;
};

std::vector<Standstill> standstills(const TokenTimes& times) {
  const double usual = usual_gap_ns(times.gaps);
  std::unordered_map<std::int64_t, std::vector<const TokenGap*>> of_request;
  for (const TokenGap& gap : times.gaps)
    if (gap.ns() > 0) of_request[gap.request].push_back(&gap);
  std::vector<Standstill> found;
  for (const auto& [request, gaps] : of_request)
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      double beside = usual;  // the longer of the neighbours
      if (i > 0) beside = std::max(beside, gaps[i - 1]->ns());
      if (i + 1 < gaps.size()) beside = std::max(beside, gaps[i + 1]->ns());
      const double ns = gaps[i]->ns();
      const bool late = gaps[i]->read_lag_ns.value_or(0) > kReadInTime * ns || gaps[i]->read_with > 0;
      if (!late && ns > kSlowGap * beside && ns - beside >= kSlowFloorNs) found.push_back({gaps[i], beside});
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.gap->from_ns < b.gap->from_ns; });
  return found;
}

// Requests of which tokens came before and after the time.
std::size_t answered_at(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names, std::string_view load,
                        std::int64_t time_ns) {
  return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [&](const auto& row) {
    return names.text(row.load) == load && row.first_token_ns && row.last_token_ns && *row.first_token_ns <= time_ns &&
           *row.last_token_ns > time_ns;
  }));
}

bool first_token_within(const TokenTimes& times, std::int64_t from_ns, std::int64_t to_ns) {
  const auto margin = static_cast<std::int64_t>((1 - kTogether) / 2 * static_cast<double>(to_ns - from_ns));
  return std::any_of(times.prefills.begin(), times.prefills.end(),
                     [&](const Prefill& one) { return one.to_ns > from_ns + margin && one.to_ns < to_ns - margin; });
}

std::optional<double> period_ns(std::span<const Pause> pauses) {
  if (static_cast<std::int64_t>(pauses.size()) < kFewestOfAPeriod) return std::nullopt;
  std::vector<double> steps;
  for (std::size_t i = 1; i < pauses.size(); ++i) steps.push_back(static_cast<double>(pauses[i].from_ns - pauses[i - 1].from_ns));
  const double shortest = *std::min_element(steps.begin(), steps.end());
  double all = 0, count = 0;
  std::size_t single = 0;
  for (const double step : steps) {
    const double times = std::round(step / shortest);  // a pause in which nothing was answered is not seen
    if (std::abs(step / times / shortest - 1) > kPeriodError) return std::nullopt;
    all += step;
    count += times;
    single += times == 1 ? 1 : 0;
  }
  return 2 * single > steps.size() ? std::optional(all / count) : std::nullopt;
}

}  // namespace

std::vector<Pause> pauses_of(const TokenTimes& times, std::span<const trace::LlmRequestRow> requests,
                             const trace::NameTable& names, std::string_view load, bool prefills_stall) {
  const std::vector<Standstill> found = standstills(times);
  std::vector<Pause> pauses;
  for (std::size_t i = 0; i < found.size();) {
    std::int64_t from = found[i].gap->from_ns, to = found[i].gap->to_ns;
    std::set<std::int64_t> stood;
    std::vector<double> lost;
    std::size_t next = i;
    double prefilled = 0;
    for (; next < found.size(); ++next) {
      const TokenGap& gap = *found[next].gap;
      const std::int64_t begin = std::max(from, gap.from_ns), end = std::min(to, gap.to_ns);
      if (static_cast<double>(end - begin) < kTogether * std::max(gap.ns(), static_cast<double>(to - from))) break;
      from = begin;
      to = end;
      stood.insert(gap.request);
      lost.push_back(gap.ns() - found[next].usual_ns);
      prefilled += prefills_stall && has_prefill(gap, times) ? 1 : 0;
    }
    i = std::max(next, i + 1);
    // What a prompt takes is no pause; what takes far longer is.
    const bool prompt = 2 * prefilled > static_cast<double>(lost.size()) &&
                        static_cast<double>(to - from) < kSlowGap * std::max(1.0, times.own_prefill_ns);
    if (stood.size() < kFewestRequests || prompt || first_token_within(times, from, to)) continue;
    if (stood.size() < answered_at(requests, names, load, from + (to - from) / 2)) continue;
    pauses.push_back({from, to, stats::median(lost), static_cast<std::int64_t>(stood.size())});
  }
  return pauses;
}

std::string sentence_of(std::span<const Pause> pauses) {
  if (pauses.empty()) return {};
  std::vector<double> lost;
  for (const Pause& pause : pauses) lost.push_back(pause.lost_ns);
  std::string text = fmt::format("the server paused {} for about {}",
                                 pauses.size() == 1   ? "once"
                                 : pauses.size() == 2 ? "twice"
                                                      : fmt::format("{} times", pauses.size()),
                                 core::format_duration(stats::median(lost)));
  if (const auto period = period_ns(pauses)) text += fmt::format(", every {}", core::format_duration(*period));
  return text + ": all requests that it was answering stood still at once";
}

}  // namespace aaco::analytics::llm
