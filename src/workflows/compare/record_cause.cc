#include "workflows/compare/record_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analytics/recorded_time.h"
#include "core/numbers.h"
#include "workflows/recorded_run.h"

namespace aaco::workflows {
namespace {

using analytics::rootcause::Cause;
using analytics::rootcause::Decomposition;
using analytics::rootcause::Part;
using core::Json;

constexpr double kAlsoCause = 0.25;  // of the difference, from which a part is named beside the first
constexpr double kFirstCause = 0.2;  // below, no part explains it
constexpr double kMemoryHits = 100;  // more of them in a run, for the memory limit to be named
constexpr double kTracedStops = 100;
constexpr std::string_view kHowMeasured = "measured_with";

std::string with_limit(const Part& part, const RecordAccount& a, const RecordAccount& b) {
  const bool of_memory = part.id == "kernel" || part.id == "asleep:storage" || part.id == "asleep:cause not recorded";
  const double hits = b.memory_limit_hits - a.memory_limit_hits;
  if (!of_memory || std::abs(hits) < kMemoryHits || (hits > 0) != (part.ns > 0)) return part.title;
  return fmt::format("memory limit of the control group (reached {} times instead of {}): {}",
                     core::format_count(std::round(b.memory_limit_hits)), core::format_count(std::round(a.memory_limit_hits)),
                     part.title);
}

double part_of(const RecordAccount& account, const std::string& id) {
  const auto found = account.parts.find(id);
  return found != account.parts.end() ? found->second : 0;
}

// Who computes longer beside the same load waits longer in proportion (analytics/rootcause/account_rules.h says the same of
// runs).
bool waits_follow(const RecordAccount& fast, const RecordAccount& slow) {
  constexpr double kMoreComputing = 0.5, kInProportion = 1.3;
  const double before = part_of(fast, "computing") + part_of(fast, "kernel");
  const double more = before > 0 ? (part_of(slow, "computing") + part_of(slow, "kernel")) / before - 1 : 0;
  const double waited = part_of(fast, "run_queue_wait");
  return more >= kMoreComputing && part_of(slow, "run_queue_wait") - waited <= kInProportion * more * waited;
}

// Waits that follow from the computing are no cause of their own: the computing comes first.
void let_computing_lead(const RecordAccount& a, const RecordAccount& b, const Decomposition& difference,
                        std::vector<Part>& parts) {
  const bool slower = difference.delta_ns > 0;
  if (parts.empty() || parts.front().id != "run_queue_wait" || !waits_follow(slower ? a : b, slower ? b : a)) return;
  const auto lead =
      std::find_if(parts.begin(), parts.end(), [](const Part& one) { return one.id == "computing" || one.id == "kernel"; });
  if (lead == parts.end() || lead->ns / difference.delta_ns <= 0) return;
  parts.front().title += ", which grew in proportion";
  std::rotate(parts.begin(), lead, lead + 1);
}

// A tracer that only the slower side has, by its stops or by what /proc said of the processes.
std::optional<Cause> tracer_of(const RecordAccount& a, const RecordAccount& b, const Decomposition& difference,
                               const std::vector<hardware::Difference>& differences) {
  constexpr std::string_view kNone = "none";
  if (const double stops = b.traced_stops - a.traced_stops; std::abs(stops) >= kTracedStops && stops * difference.delta_ns > 0)
    return Cause{"traced",
                 fmt::format("a tracer (strace, gdb) stopped it {} times instead of {}", core::format_count(b.traced_stops),
                             core::format_count(a.traced_stops)),
                 1,
                 1,
                 {"stops of its threads by ptrace, by the scheduler's events"}};
  const auto fact =
      std::find_if(differences.begin(), differences.end(), [](const auto& one) { return one.key == "process.tracer"; });
  if (fact == differences.end() || (difference.delta_ns > 0 ? fact->a : fact->b) != kNone) return std::nullopt;
  return Cause{
      "traced",
      fmt::format("a tracer ({}) on side {}", difference.delta_ns > 0 ? fact->b : fact->a, difference.delta_ns > 0 ? "B" : "A"),
      1,
      1,
      {"TracerPid of its processes"}};
}

std::vector<Cause> causes_of(const RecordAccount& a, const RecordAccount& b, const Decomposition& difference,
                             const std::vector<hardware::Difference>& differences) {
  std::vector<Cause> causes;
  if (auto tracer = tracer_of(a, b, difference, differences)) causes.push_back(*std::move(tracer));
  std::vector<Part> parts = difference.parts;
  let_computing_lead(a, b, difference, parts);
  const bool leads = !parts.empty() && parts.front().id != difference.parts.front().id;
  bool limited = false;
  for (const Part& part : parts) {
    const double share = part.ns / difference.delta_ns;
    if (share < (causes.empty() ? kFirstCause : kAlsoCause) && !(leads && causes.empty())) break;
    const std::string title = limited ? part.title : with_limit(part, a, b);
    limited = limited || title != part.title;
    causes.push_back({part.id, title, share, share, {part.evidence}});
  }
  return causes;
}

// "command: ./w 1 vs ./w 2 (different command)"; how a session was measured is said elsewhere.
std::string settings_of(const std::vector<hardware::Difference>& differences) {
  std::string text;
  for (const auto& one : differences)
    if (!one.a.empty() && !one.b.empty() && one.key != kHowMeasured) text += (text.empty() ? "" : "; ") + hardware::to_text(one);
  return text;
}

std::string sentence(const Decomposition& difference, const std::vector<Cause>& causes, const std::string& settings,
                     std::string_view what) {
  std::string text;
  for (const Cause& cause : causes)
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", and ", cause.title,
                    cause.id == "traced" ? "" : fmt::format(" ({} of the difference)", core::format_percent(cause.share_ratio)));
  if (causes.empty()) text = "no part explains much of the difference";
  text += fmt::format(": {} {} {}", what, core::format_duration(std::abs(difference.delta_ns)),
                      difference.delta_ns > 0 ? "longer" : "less");
  bool first = true;
  for (const Part& part : difference.parts) {
    text += fmt::format("{} {} {}", first ? ":" : ",", core::format_percent(part.ns / difference.delta_ns), part.title);
    first = false;
  }
  text += fmt::format("; {} unexplained", core::format_percent(difference.unexplained_ns / difference.delta_ns));
  return settings.empty() ? text : text + "; A and B also differ in " + settings;
}

struct Remedy {
  std::string_view part, text;
};
constexpr std::array<Remedy, 13> kRemedies = {{
    {"traced", "run it without the tracer (strace, gdb), or trace both sides"},
    {"computing", "find what computes: 'perf record -g' of native code, 'py-spy record' of Python, on both sides"},
    {"kernel", "find which system calls or page faults grew: 'strace -c' and 'perf trace -s' on both sides"},
    {"run_queue_wait", "stop the other processes on its CPUs, or keep CPUs for it: 'aaco capsule', 'aaco record --isolate'"},
    {"cpu_throttling", "raise the CPU quota of its control group (cpu.max), or use fewer threads"},
    {"asleep:pipe or network", "find what the process at the other end of the pipe or socket does meanwhile"},
    {"asleep:file lock", "find who holds the file lock ('lslocks'), and hold it for a shorter time"},
    {"asleep:lock or hand-over between threads", "shorten what runs under the lock that its threads wait for"},
    {"asleep:storage", "read and write less or ahead: check the page cache, O_DIRECT, fsync and the disk"},
    {"asleep:timer", "remove or shorten the sleeps and timed waits (timer slack counts as well)"},
    {"asleep:child processes", "find what the child processes wait for"},
    {"asleep:stopped", "find what stops the process: job control (SIGSTOP, Ctrl-Z), a batch system"},
    {"asleep:frozen", "find what freezes its control group: 'docker pause', a batch system"},
}};

std::string advice(const Decomposition& difference, const std::vector<Cause>& causes, bool recorded,
                   const std::string& settings) {
  if (difference.delta_ns < 0) return "no action needed: B is faster; approve it as the new baseline";
  if (!recorded && (causes.empty() || causes.front().id.ends_with("not recorded")))
    return "record both sides with 'aaco record --ebpf' and compare again: the scheduler's events tell what it sleeps for";
  if (!settings.empty()) return "undo what differs (" + settings + "), or approve it as the new baseline";
  for (const Cause& cause : causes)
    for (const Remedy& one : kRemedies)
      if (cause.id == one.part) return std::string(one.text);
  return "compare the parts above; 'aaco report' of both sides shows what each thread did";
}

// The mean of what `of_session` tells of each session; empty where it tells nothing of one.
template <class OfSession>
core::Result<std::optional<RecordAccount>> mean_of(const ComparedSide& side, OfSession&& of_session) {
  std::vector<RecordAccount> accounts;
  for (const ComparedSession& session : side.sessions) {
    AACO_ASSIGN(auto account, of_session(session));
    if (!account) return std::optional<RecordAccount>();
    accounts.push_back(*std::move(account));
  }
  return accounts.empty() ? std::optional<RecordAccount>() : std::optional(mean_account(accounts));
}

core::Result<std::optional<RecordAccount>> account_of(const ComparedSide& side) { return mean_of(side, record_account); }

}  // namespace

namespace {
SuspectedCause cause_of(const RecordAccount& a, const RecordAccount& b, const std::vector<hardware::Difference>& differences,
                        std::string_view what) {
  const Decomposition difference = decompose(a, b);
  const auto causes = causes_of(a, b, difference, differences);
  const std::string settings = settings_of(differences);
  return {sentence(difference, causes, settings, what), advice(difference, causes, a.recorded && b.recorded, settings),
          Json::object({{"of", "recordings"}, {"causes", to_json(causes)}, {"decomposition", to_json(difference)}})};
}
}  // namespace

SuspectedCause cause_of_accounts(const RecordAccount& a, const RecordAccount& b,
                                 const std::vector<hardware::Difference>& differences) {
  return cause_of(a, b, differences, "the run takes");
}

core::Result<std::optional<SuspectedCause>> cause_of_own_times(const ComparedSide& a, const ComparedSide& b,
                                                               const analytics::regression::MetricResult& decided,
                                                               const std::vector<hardware::Difference>& differences) {
  const bool of_cpu = decided.id == analytics::regression::kRecordedCpu;
  AACO_ASSIGN(const auto of_a, mean_of(a, of_cpu ? record_cpu_account : record_own_account));
  AACO_ASSIGN(const auto of_b, mean_of(b, of_cpu ? record_cpu_account : record_own_account));
  if (!of_a || !of_b || of_a->wall_ns == of_b->wall_ns) return std::optional<SuspectedCause>();
  if ((of_b->wall_ns > of_a->wall_ns) != (decided.verdict == stats::Verdict::regression)) return std::optional<SuspectedCause>();
  return std::optional(
      cause_of(*of_a, *of_b, differences, of_cpu ? "the program uses CPUs for" : "without its waits for a CPU the run takes"));
}

core::Result<std::optional<SuspectedCause>> cause_of_recordings(const ComparedSide& a, const ComparedSide& b,
                                                                const analytics::regression::MetricResult& decided,
                                                                const std::vector<hardware::Difference>& differences) {
  AACO_ASSIGN(const auto of_a, account_of(a));
  AACO_ASSIGN(const auto of_b, account_of(b));
  if (!of_a || !of_b || of_a->wall_ns == of_b->wall_ns) return std::optional<SuspectedCause>();
  const bool slower = of_b->wall_ns > of_a->wall_ns;
  const bool inconclusive = decided.verdict == stats::Verdict::inconclusive;
  if (!inconclusive && slower != (decided.verdict == stats::Verdict::regression)) return std::optional<SuspectedCause>();
  if (!inconclusive) return std::optional(cause_of_accounts(*of_a, *of_b, differences));
  const Decomposition difference = decompose(*of_a, *of_b);
  const std::string next = next_of_recordings(difference);
  if (next.empty()) return std::optional<SuspectedCause>();
  SuspectedCause cause = cause_of_accounts(*of_a, *of_b, differences);
  cause.cause = "not decided; " + cause.cause;
  cause.recommendation = next;
  return std::optional(std::move(cause));
}

std::string next_of_recordings(const Decomposition& difference) {
  if (difference.parts.empty() || difference.delta_ns == 0) return {};
  const Part& first = difference.parts.front();
  if (!first.id.starts_with("asleep:") || first.ns / difference.delta_ns < kFirstCause) return {};
  return fmt::format("record more sessions per side: most of the difference is time {}, which an idle machine does not change",
                     first.title);
}

}  // namespace aaco::workflows
