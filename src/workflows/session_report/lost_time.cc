#include "workflows/session_report/lost_time.h"

#include <fmt/format.h>

#include "analytics/blame.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using analytics::signals::CallAccount;
using analytics::signals::kBusyOthers;
using analytics::signals::kExplainedWait;
using analytics::signals::kThrottledWait;

constexpr double kNamedLoss = 0.10;       // of a call
constexpr double kWaitingThreads = 0.25;  // beside the caller, on average

enum class Blame { unknown, quota, others, own };

Blame blame_of(const CallAccount& account, double wait_ns) {
  if (account.throttled_ns.value_or(0) >= kThrottledWait * wait_ns) return Blame::quota;
  if (!account.others_cpu_ns) return Blame::unknown;
  const double others = *account.others_cpu_ns;
  return others >= kBusyOthers * account.wall_ns && others >= kExplainedWait * wait_ns ? Blame::others : Blame::own;
}

std::string in_words(Blame blame, const CallAccount& account, std::optional<double> allowed_cpus) {
  switch (blame) {
    case Blame::unknown: return {};
    case Blame::quota: return ": its CPU quota was used up";
    case Blame::own: return ": its own threads share too few CPUs";
    case Blame::others: break;
  }
  const double used = *account.others_cpu_ns / account.wall_ns;
  const std::string of =
      allowed_cpus ? fmt::format(" of its {:.3g} CPU{}", *allowed_cpus, *allowed_cpus == 1 ? "" : "s") : " CPUs";
  return fmt::format(": other processes used {:.2f}{}", used, of);
}

}  // namespace

std::string lost_time(const CallAccount& account, std::string_view class_id, std::optional<double> allowed_cpus) {
  if (account.wall_ns <= 0 || !account.wait_ns) return {};
  const double caller = *account.wait_ns / account.wall_ns, others = account.others_wait_ns.value_or(0) / account.wall_ns;
  const Blame blame = blame_of(account, *account.wait_ns + account.others_wait_ns.value_or(0));
  const double asleep = account.blocked_ns.value_or(0) / account.wall_ns;
  if (caller >= kNamedLoss && caller >= asleep)
    return fmt::format("{} of it is waiting for a CPU{}", core::format_percent(caller), in_words(blame, account, allowed_cpus));
  if (asleep >= kNamedLoss && class_id == "host_waiting")
    return fmt::format("{} of it is sleep: on a timer, a lock, another thread or process", core::format_percent(asleep));
  if (others >= kWaitingThreads && blame != Blame::own && blame != Blame::unknown)
    return fmt::format("meanwhile {:.2f} of its other threads waited for a CPU{}", others,
                       in_words(blame, account, allowed_cpus));
  return {};
}

}  // namespace aaco::workflows
