#include <algorithm>
#include <array>

#include "analytics/signals.h"

namespace aaco::analytics::signals {
namespace {

using Count = std::optional<std::int64_t>;

// A call's share of a counter over all blocks; empty where one block has none.
std::optional<double> a_call(std::span<const trace::LoopBlockRow* const> blocks, double calls,
                             Count trace::LoopBlockRow::*member) {
  double sum = 0;
  for (const trace::LoopBlockRow* block : blocks) {
    if (!(block->*member)) return std::nullopt;
    sum += static_cast<double>(*(block->*member));
  }
  return sum / calls;
}

}  // namespace

std::optional<CallAccount> account_of(std::span<const trace::LoopBlockRow> blocks, const trace::NameTable& names) {
  using R = trace::LoopBlockRow;
  std::vector<const R*> plain;
  CallAccount account;
  for (const R& row : blocks) {
    if (names.text(row.phase) != "measure" || row.call_count <= 0 || row.end_ns < row.start_ns) continue;
    plain.push_back(&row);
    account.calls += row.call_count;
    account.wall_ns += static_cast<double>(row.end_ns - row.start_ns);
  }
  if (account.calls == 0) return std::nullopt;
  const auto calls = static_cast<double>(account.calls);
  account.wall_ns /= calls;
  const auto of = [&](Count R::*member) { return a_call(plain, calls, member); };
  account.cpu_ns = of(&R::caller_cpu_ns);
  account.wait_ns = of(&R::caller_wait_ns);
  if (account.cpu_ns && account.wait_ns) {
    const double asleep = account.wall_ns - *account.cpu_ns - *account.wait_ns;
    account.blocked_ns = std::max(0.0, asleep);
    account.unexplained_ns = std::min(0.0, asleep);
  }
  const auto process_wait = of(&R::process_wait_ns), caller_wait = of(&R::caller_wait_ns);
  if (process_wait && caller_wait) account.others_wait_ns = std::max(0.0, *process_wait - *caller_wait);
  account.process_cpu_ns = of(&R::process_cpu_ns);
  account.system_ns = of(&R::process_system_ns);
  account.throttled_ns = of(&R::throttled_ns);
  account.minor_faults = of(&R::minor_faults);
  account.major_faults = of(&R::major_faults);
  account.migrations = of(&R::migrations);
  account.storage_bytes = of(&R::storage_bytes);
  account.voluntary_switches = of(&R::voluntary_switches);
  account.involuntary_switches = of(&R::involuntary_switches);
  account.interrupts = of(&R::interrupts);
  account.steal_ns = of(&R::steal_ns);
  account.iowait_ns = of(&R::iowait_ns);
  account.io_some_ns = of(&R::io_some_ns);
  account.stops = of(&R::stops);
  const auto machine = of(&R::machine_busy_ns), allowed = of(&R::allowed_busy_ns);
  if (machine && allowed) account.elsewhere_cpu_ns = std::max(0.0, *machine - *allowed);
  if (const auto busy = allowed ? allowed : machine; busy && account.process_cpu_ns)
    account.others_cpu_ns = std::max(0.0, *busy - *account.process_cpu_ns);
  return account;
}

CallAccount mean_account(std::span<const CallAccount> accounts) {
  using Member = std::optional<double> CallAccount::*;
  using A = CallAccount;
  constexpr std::array<Member, 23> kMembers = {
      &A::cpu_ns,         &A::wait_ns,          &A::blocked_ns,         &A::unexplained_ns,
      &A::others_wait_ns, &A::process_cpu_ns,   &A::system_ns,          &A::throttled_ns,
      &A::minor_faults,   &A::major_faults,     &A::migrations,         &A::storage_bytes,
      &A::others_cpu_ns,  &A::elsewhere_cpu_ns, &A::voluntary_switches, &A::involuntary_switches,
      &A::interrupts,     &A::steal_ns,         &A::iowait_ns,          &A::stops,
      &A::freezes,        &A::frozen_ns,        &A::io_some_ns};
  const auto count = static_cast<double>(accounts.size());
  CallAccount mean;
  for (const CallAccount& one : accounts) {
    mean.calls += one.calls;
    mean.wall_ns += one.wall_ns / count;
  }
  for (const Member member : kMembers) {
    if (!std::all_of(accounts.begin(), accounts.end(), [&](const CallAccount& one) { return (one.*member).has_value(); }))
      continue;
    double sum = 0;
    for (const CallAccount& one : accounts) sum += *(one.*member);
    mean.*member = sum / count;
  }
  return mean;
}

void count_freezes(const trace::Metrics& metrics, CallAccount& account) {
  if (account.calls <= 0) return;
  const auto per_call = [&](std::string_view id) -> std::optional<double> {
    const auto* metric = trace::find_metric(metrics, id);
    return metric == nullptr ? std::nullopt : std::optional(metric->value / static_cast<double>(account.calls));
  };
  account.freezes = per_call("process.freezes_count");
  account.frozen_ns = per_call("process.frozen_ns");
}

}  // namespace aaco::analytics::signals
