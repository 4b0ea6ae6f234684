#include "workflows/compare/record_account.h"

#include <algorithm>
#include <cmath>

#include "analytics/run_path.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/recorded_run.h"
#include "workflows/session/sleep_title.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::RunPath;

constexpr double kFewestThrottled = 0.01;  // of the time
constexpr std::string_view kAsleep = "asleep:";

std::optional<double> metric(const ComparedSession& session, std::string_view id) {
  const auto* found = find_metric(session.metrics, id);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

struct Recorded {
  RunPath::Totals totals;
  std::map<std::int64_t, std::string> names;  // of threads
  double traced_stops = 0;
  bool whole = false;
};

core::Result<Recorded> recorded_path(const std::string& path, std::int64_t first_thread) {
  Recorded out;
  RunPath run;
  trace::NameTable names;
  AACO_TRY(
      tracelake::scan_table<trace::SchedEventRow>(path, names, [&](std::span<const trace::SchedEventRow> rows) -> core::Status {
        for (const auto& row : rows) {
          const auto kind = names.text(row.kind), detail = names.text(row.detail);
          run.add(row, kind, detail, names.text(row.call));
          if (kind == "off_cpu" && detail == "traced") out.traced_stops += 1;
          if (kind == "run" && row.thread_name != trace::NameId{})
            out.names.insert_or_assign(row.thread_id, std::string(names.text(row.thread_name)));
        }
        return {};
      }));
  out.totals = run.totals(first_thread);
  out.whole = run.whole();
  return out;
}

// The quota keeps threads waiting for a CPU as well: of that wait, as much as the group was throttled.
void add_wait(double wait_ns, const ComparedSession& session, RecordAccount& account) {
  const double throttled = metric(session, "cgroup.throttled_ratio").value_or(0) * account.wall_ns;
  const double of_quota = throttled >= kFewestThrottled * account.wall_ns ? std::min(throttled, wait_ns) : 0;
  if (of_quota > 0) account.parts["cpu_throttling"] += of_quota;
  account.parts["run_queue_wait"] += wait_ns - of_quota;
}

void add_running(double run_ns, const ComparedSession& session, RecordAccount& account) {
  const double kernel = std::clamp(metric(session, "process.system_ratio").value_or(0), 0.0, 1.0);
  account.parts["computing"] += run_ns * (1 - kernel);
  account.parts["kernel"] += run_ns * kernel;
}

void add_sleeps(const RunPath::Totals& totals, RecordAccount& account) {
  for (const auto& [why, part] : totals.asleep) {
    const std::string id = std::string(kAsleep) + sleep_title(why.first, why.second);
    account.parts[id] += part.ns;
    RecordAccount::Sleep& sleep = account.sleeps[id];
    sleep.calls[why.second] += part.ns;
    const auto woken = totals.woken.find(why);
    if (woken == totals.woken.end()) continue;
    sleep.wakes += static_cast<double>(woken->second.count);
    sleep.woken_ns += woken->second.ns;
  }
}

// Telemetry counts faults per second; the mean over the run times its length is their number.
core::Status add_counters(const ComparedSession& session, RecordAccount& account) {
  account.process_cpu_ns = metric(session, "process.cpu_time_ns").value_or(0);
  account.memory_limit_hits = metric(session, "cgroup.memory_limit_hits").value_or(0);
  trace::NameTable names;
  AACO_ASSIGN(const auto events, tracelake::read_table<trace::SystemEventRow>(session.path, names));
  const auto count = [&](std::string_view id) {
    double sum = 0, number = 0;
    for (const auto& row : events)
      if (names.text(row.metric) == id && names.text(row.entity) == "tree" && std::isfinite(row.value))
        sum += row.value, ++number;
    return number > 0 ? sum / number * account.wall_ns * 1e-9 : 0;
  };
  account.faults = count("process.minor_faults_per_second");
  account.major_faults = count("process.major_faults_per_second");
  return {};
}

}  // namespace

core::Result<std::optional<RecordAccount>> record_account(const ComparedSession& session) {
  const auto wall = metric(session, kRunTime);
  if (session.kind != "record" || session.path.empty() || !wall || *wall <= 0) return std::optional<RecordAccount>();
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session.path));
  RecordAccount account;
  account.wall_ns = *wall;
  AACO_TRY(add_counters(session, account));
  const std::int64_t first = manifest.outcome.process_id.value_or(0);
  AACO_ASSIGN(const Recorded recorded, recorded_path(session.path, first));
  account.traced_stops = recorded.traced_stops;
  if (recorded.whole && recorded.totals.sum_ns() > 0) {
    account.recorded = true;
    double run_ns = 0;
    for (const auto& [thread, part] : recorded.totals.running) {
      run_ns += part.ns;
      const auto name = recorded.names.find(thread);
      if (thread != first) account.threads[name != recorded.names.end() ? name->second : std::string("unnamed")] += part.ns;
    }
    add_running(run_ns, session, account);
    add_wait(recorded.totals.runnable.ns, session, account);
    add_sleeps(recorded.totals, account);
    return std::optional(std::move(account));
  }
  // One thread runs, waits or sleeps; the CPU time of several does not divide the run time.
  const auto cores = metric(session, "process.cpu_use_cores"), wait = metric(session, "process.run_queue_wait_ratio");
  const double wait_ns = wait.value_or(0) * account.wall_ns;
  if (!cores || !wait || metric(session, "process.threads_count").value_or(0) != 1 ||
      account.process_cpu_ns + wait_ns > account.wall_ns * 1.02)
    return std::optional<RecordAccount>();
  add_running(account.process_cpu_ns, session, account);
  add_wait(wait_ns, session, account);
  account.parts[std::string(kAsleep) + "cause not recorded"] = std::max(0.0, account.wall_ns - account.process_cpu_ns - wait_ns);
  return std::optional(std::move(account));
}

core::Result<std::optional<RecordAccount>> record_own_account(const ComparedSession& session) {
  AACO_ASSIGN(auto account, record_account(session));
  if (!account || !account->recorded) return std::optional<RecordAccount>();
  for (const char* wait : {"run_queue_wait", "cpu_throttling"})
    if (const auto part = account->parts.find(wait); part != account->parts.end()) {
      account->wall_ns -= part->second;
      account->parts.erase(part);
    }
  return account->wall_ns > 0 ? std::move(account) : std::optional<RecordAccount>();
}

core::Result<std::optional<RecordAccount>> record_cpu_account(const ComparedSession& session) {
  const auto cpu = metric(session, "process.cpu_time_ns");
  if (session.kind != "record" || session.path.empty() || !cpu || *cpu <= 0) return std::optional<RecordAccount>();
  RecordAccount account;
  account.recorded = true;
  account.wall_ns = metric(session, kRunTime).value_or(*cpu);  // its faults are counted per second of the run
  AACO_TRY(add_counters(session, account));
  account.wall_ns = *cpu;
  add_running(*cpu, session, account);
  AACO_ASSIGN(const auto whole, record_account(session));
  if (whole) account.traced_stops = whole->traced_stops;
  return std::optional(std::move(account));
}

RecordAccount mean_account(const std::vector<RecordAccount>& accounts) {
  RecordAccount mean;
  mean.recorded = true;
  const double share = 1 / static_cast<double>(accounts.size());
  for (const RecordAccount& one : accounts) {
    mean.recorded = mean.recorded && one.recorded;
    for (auto member : {&RecordAccount::wall_ns, &RecordAccount::process_cpu_ns, &RecordAccount::faults,
                        &RecordAccount::major_faults, &RecordAccount::memory_limit_hits, &RecordAccount::traced_stops})
      mean.*member += one.*member * share;
    for (const auto& [id, ns] : one.parts) mean.parts[id] += ns * share;
    for (const auto& [id, sleep] : one.sleeps) {
      RecordAccount::Sleep& all = mean.sleeps[id];
      for (const auto& [call, ns] : sleep.calls) all.calls[call] += ns * share;
      all.wakes += sleep.wakes * share;
      all.woken_ns += sleep.woken_ns * share;
    }
    for (const auto& [name, ns] : one.threads) mean.threads[name] += ns * share;
  }
  return mean;
}

}  // namespace aaco::workflows
