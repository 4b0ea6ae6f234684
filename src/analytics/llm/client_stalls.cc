#include "analytics/llm/client_stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analytics/llm/lag_floor.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

using Stall = OwnState::Stall;

double length(const Stall& stall) { return static_cast<double>(stall.to_ns - stall.from_ns); }

// The rest of the stall within which a request was due, up to the lateness that was seen.
double sent_late(const std::vector<Stall>& stalls, const Load::Send& send) {
  double late = 0;
  for (const Stall& stall : stalls)
    if (send.due_ns >= stall.from_ns - kStallTurnNs && send.due_ns < stall.to_ns)
      late = std::max(late, std::min(send.late_ns, static_cast<double>(stall.to_ns - send.due_ns)));
  return late;
}

// How long what was read at `time_ns` may have waited for the end of a stall; at most since `from_ns`.
double read_late(const std::vector<Stall>& stalls, double from_ns, double time_ns) {
  double late = 0;
  for (const Stall& stall : stalls) {
    const auto begin = static_cast<double>(stall.from_ns), end = static_cast<double>(stall.to_ns);
    if (time_ns >= end - static_cast<double>(kStallTurnNs) && time_ns <= end + static_cast<double>(kStallTurnNs))
      late = std::max(late, std::min(end, time_ns) - std::max(from_ns, begin));
  }
  return late;
}

struct Times {
  std::vector<double> ttft, e2el;  // less what the stalls may have added
  std::int64_t sent = 0, read = 0;
  double latest_ns = 0;  // of the sends
};

Times without(const std::vector<Stall>& stalls, const Load& load) {
  Times times;
  for (const Load::Send& send : load.sends) {
    const double late = sent_late(stalls, send), due = static_cast<double>(send.due_ns), from = due + send.late_ns;
    times.sent += late >= kLagFloorNs ? 1 : 0;
    times.latest_ns = std::max(times.latest_ns, late);
    const double end = read_late(stalls, from, due + send.e2el_ns);
    const double first = send.ttft_ns ? read_late(stalls, from, due + *send.ttft_ns) : 0;
    times.read += std::max(first, end) >= kLagFloorNs ? 1 : 0;
    if (send.ttft_ns) times.ttft.push_back(*send.ttft_ns - late - first);
    times.e2el.push_back(send.e2el_ns - late - end);
  }
  return times;
}

void add_moved(std::string& text, std::string_view name, const std::optional<stats::Quantile>& seen,
               const std::optional<stats::Quantile>& without) {
  if (!seen || !without) return;
  const double added = seen->value - without->value;
  if (!matters(added, *without)) return;
  text += fmt::format("{}{} ({}) by up to {}", text.empty() ? "" : ", ", name, core::format_duration(seen->value),
                      core::format_duration(added));
}

std::string stood_still(const std::vector<Stall>& stalls) {
  const auto longest =
      std::max_element(stalls.begin(), stalls.end(), [](const Stall& a, const Stall& b) { return length(a) < length(b); });
  if (stalls.size() == 1) return "the client stood still for " + core::format_duration(length(*longest));
  return fmt::format("the client stood still {} times, for up to {}", stalls.size(), core::format_duration(length(*longest)));
}

std::string count_of(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{} {}", count, noun, count == 1 ? "" : "s", count == 1 ? "was" : "were");
}

}  // namespace

std::vector<std::string> moved_by_stalls(const Load& load, const OwnState& state) {
  std::vector<std::string> reasons;
  if (state.stalls.empty()) return reasons;
  const Times times = without(state.stalls, load);
  const stats::Summary ttft = stats::summarize(times.ttft), e2el = stats::summarize(times.e2el);
  std::string moved;
  add_moved(moved, "the median TTFT", load.ttft.p50, ttft.p50);
  add_moved(moved, "the TTFT P95", load.ttft.p95, ttft.p95);
  add_moved(moved, "the TTFT P99", load.ttft.p99, ttft.p99);
  add_moved(moved, "the median E2EL", load.e2el.p50, e2el.p50);
  add_moved(moved, "the E2EL P95", load.e2el.p95, e2el.p95);
  add_moved(moved, "the E2EL P99", load.e2el.p99, e2el.p99);
  if (!moved.empty()) {
    std::string how;
    if (times.sent > 0)
      how = fmt::format("{} sent up to {} late", count_of(times.sent, "request"), core::format_duration(times.latest_ns));
    if (times.read > 0) how += fmt::format("{}{} read late", how.empty() ? "" : " and ", count_of(times.read, "response"));
    reasons.push_back(fmt::format("{}: {}, which moved {}", stood_still(state.stalls), how, moved));
  }
  double still_ns = 0;
  for (const Stall& stall : state.stalls) still_ns += length(stall);
  // An open loop makes up for it.
  if (load.name.starts_with("concurrency ") && still_ns > kLagShare * load.duration_s * 1e9)
    reasons.push_back(fmt::format("{}: {} of the {} that the load took, in which a closed loop sends nothing",
                                  stood_still(state.stalls), core::format_duration(still_ns),
                                  core::format_duration(load.duration_s * 1e9)));
  return reasons;
}

}  // namespace aaco::analytics::llm
