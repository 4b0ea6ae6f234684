#include "workflows/compare/record_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/run_path.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/recorded_run.h"
#include "workflows/session/sleep_title.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::RunPath;

constexpr double kMinPart = 0.005;         // of the difference; smaller parts stay in unexplained
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
    for (const auto& [why, part] : recorded.totals.asleep)
      account.parts[std::string(kAsleep) + std::string(sleep_title(why.first, why.second))] += part.ns;
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
    for (const auto& [name, ns] : one.threads) mean.threads[name] += ns * share;
  }
  return mean;
}

namespace {

constexpr double kUsualFaultNs = 10'000;  // of kernel time at most: more than that, and faults do not explain it
constexpr double kManyFaults = 100;

std::string title_of(std::string_view id, const RecordAccount& a, const RecordAccount& b, double ns) {
  if (id == "computing") return "computing";
  if (id == "run_queue_wait") return "waiting for a CPU";
  if (id == "cpu_throttling") return "CPU quota throttling";
  if (id == "kernel") {
    const double faults = b.faults - a.faults;
    const bool of_faults = std::abs(faults) >= kManyFaults && (faults > 0) == (ns > 0) && ns / faults <= kUsualFaultNs;
    return of_faults ? "kernel time: page faults" : "kernel time: system calls";
  }
  return "asleep: " + std::string(id.substr(kAsleep.size()));
}

// "of it +2.10 s in python3 (a child process or thread)"
std::string of_threads(const RecordAccount& a, const RecordAccount& b, double ns) {
  std::string name;
  double most = 0;
  for (const auto& [thread, after] : b.threads) {
    const auto before = a.threads.find(thread);
    const double grown = after - (before != a.threads.end() ? before->second : 0);
    if ((grown > 0) == (ns > 0) && std::abs(grown) > std::abs(most)) most = grown, name = thread;
  }
  constexpr double kNamed = 0.5;
  return std::abs(most) >= kNamed * std::abs(ns) ? fmt::format(", most of it in {} (a child process or thread)", name)
                                                 : std::string();
}

std::string evidence_of(std::string_view id, const RecordAccount& a, const RecordAccount& b, double before, double after) {
  std::string text = fmt::format("{} instead of {} of the run", core::format_duration(after), core::format_duration(before));
  if (id == "computing") return text + of_threads(a, b, after - before);
  if (id == "kernel")
    return text + fmt::format(", {} page faults instead of {}; divided from user time as the CPU time of the whole program is",
                              core::format_count(std::round(b.faults)), core::format_count(std::round(a.faults)));
  return text;
}

}  // namespace

analytics::rootcause::Decomposition decompose(const RecordAccount& a, const RecordAccount& b) {
  analytics::rootcause::Decomposition out;
  out.baseline_ns = a.wall_ns;
  out.candidate_ns = b.wall_ns;
  out.delta_ns = out.unexplained_ns = b.wall_ns - a.wall_ns;
  std::map<std::string, std::pair<double, double>> parts;
  for (const auto& [id, ns] : a.parts) parts[id].first = ns;
  for (const auto& [id, ns] : b.parts) parts[id].second = ns;
  for (const auto& [id, ns] : parts) {
    const double grown = ns.second - ns.first;
    if (std::abs(grown) <= kMinPart * std::abs(out.delta_ns)) continue;
    out.parts.push_back({id, title_of(id, a, b, grown), grown, evidence_of(id, a, b, ns.first, ns.second)});
    out.unexplained_ns -= grown;
  }
  const double sign = out.delta_ns < 0 ? -1 : 1;
  std::stable_sort(out.parts.begin(), out.parts.end(), [&](const auto& x, const auto& y) { return sign * x.ns > sign * y.ns; });
  return out;
}

}  // namespace aaco::workflows
