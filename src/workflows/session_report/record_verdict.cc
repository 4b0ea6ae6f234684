#include "workflows/session_report/record_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/cpu_set.h"
#include "core/files.h"
#include "core/numbers.h"
#include "workflows/session_report/record_facts.h"
#include "workflows/session_report/record_waits.h"

namespace aaco::workflows {
namespace {

using trace::find_metric;

// Shares from which a cause limits the program: our own judgement.
constexpr double kWaiting = 0.15;          // of the threads' running and waiting time
constexpr double kThrottled = 0.1;         // of the time
constexpr double kThrottledPeriods = 0.5;  // of the quota's periods
constexpr double kFewestWaiting = 0.1;     // of the time, the low end of the interval
constexpr double kStopped = 0.2;           // of the time
constexpr double kGpuBusy = 0.7;
constexpr double kIoStalled = 0.2;       // of the time some task waited for storage
constexpr double kFewestStorage = 0.05;  // of the time asleep for storage, beside waits for a CPU that follow it
constexpr double kDiskSleep = 0.15;      // of the samples: a sampler on the same CPU sees less of it than there is
constexpr double kFewestBytes = 1e5;     // per second, of a program that waits for storage
constexpr double kCpusBusy = 0.85;       // of the CPUs that it may use
constexpr double kKernelTime = 0.5;      // of the CPU time
constexpr double kLongestFault = 10e-6;  // seconds of kernel time: more than that, and faults do not explain it
constexpr double kUnsampled = 0.05;      // of the CPU time, from which it is named
constexpr double kMostlyUnsampled = 0.25;
constexpr double kFewestUnsampled = 0.03;  // CPUs
constexpr double kMostly = 0.5;            // of the time
constexpr double kIdle = 0.3;              // CPUs, below which the program mostly sleeps
constexpr double kIdleCpus = 0.3;          // CPUs, from which one counts as free
constexpr double kMajorFaults = 50;        // per second

// Mean over the GPUs.
std::optional<double> gpu_use(const RecordFacts& facts) {
  double sum = 0, count = 0;
  for (const auto& metric : facts.model.metrics)
    if (metric.id == "gpu.use_ratio") sum += metric.value, ++count;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// The bounds of what was measured about a program; empty: not measured.
struct MeasuredProgram {
  double cores = 0;
  std::optional<double> cpus;       // that it may use
  std::optional<double> idle_cpus;  // of these, the mean number without work of any process
  double waiting = 0, waiting_at_least = 0;
  double unsampled = 0;                       // of the CPU time
  std::optional<double> stopped, disk_sleep;  // share of the samples in which a process was
  std::optional<RecordedWaits> waits;
  double wall_ns = 0;
};

// Empty where the CPUs that the program may use are not known one by one, or one of them was not sampled.
std::optional<double> idle_cpus(const RecordFacts& facts) {
  const core::Json& cpu = facts.model.environment["cpu"];
  const auto allowed = core::parse_cpu_list(cpu["allowed_cpu_list"].text());
  if (allowed.empty()) return std::nullopt;
  double idle = 0;
  for (const std::int64_t one : allowed) {
    const auto use = mean_of(facts.series("cpu.use_ratio", "cpu" + std::to_string(one)));
    if (!use) return std::nullopt;
    idle += std::clamp(1 - *use, 0.0, 1.0);
  }
  return idle;
}

MeasuredProgram measured(const RecordFacts& facts, double cores, std::optional<double> cpus) {
  MeasuredProgram out{.cores = cores, .cpus = cpus, .idle_cpus = idle_cpus(facts)};
  if (const auto* wait = find_metric(facts.model.metrics, "process.run_queue_wait_ratio")) {
    out.waiting = wait->value;
    out.waiting_at_least = wait->ci95 ? std::max(0.0, wait->ci95->low) : wait->value;
  }
  out.unsampled = facts.metric("process.cpu_unsampled_ratio").value_or(0);
  out.stopped = facts.metric("process.stopped_ratio");
  out.disk_sleep = facts.metric("process.disk_sleep_ratio");
  out.waits = recorded_waits(facts.model.sections.operating_system);
  const auto wall = facts.model.session.outcome.wall_ns;
  if (out.waits && wall && *wall > 0) {  // events miss no process
    const double recorded = out.waits->run_queue_ns / static_cast<double>(*wall);
    out.waiting = std::max(out.waiting, recorded);
    out.waiting_at_least = std::max(out.waiting_at_least, recorded);
  }
  out.wall_ns = static_cast<double>(wall.value_or(0));
  return out;
}

// Of a program that hardly ran, a few ms of its start are much of its CPU time.
bool counts_unsampled(const MeasuredProgram& is) { return is.unsampled * is.cores >= kFewestUnsampled; }

// Waiting limits a program that waits more than it sleeps. With less than one thread running or waiting on average, it slept at
// least the remaining time.
bool waits_runnable(const MeasuredProgram& is) {
  const double asleep = std::max(0.0, 1 - is.cores - is.waiting);
  return is.waiting_at_least >= kFewestWaiting && is.waiting / (is.waiting + is.cores) >= kWaiting && is.waiting >= asleep;
}

// The headline is the largest part of what the threads did: a program that computes for longer than it waits is not limited by
// the wait, which is named beside.
bool waits_most(const MeasuredProgram& is) { return is.waiting >= is.cores; }

// While its threads were runnable, as many CPUs were idle: what they wait for is each other's hand-over, not a free CPU. The
// kernel wakes a thread on the CPU of the one that wakes it, also where another CPU is idle.
bool takes_turns(const MeasuredProgram& is) { return is.idle_cpus.value_or(0) >= std::max(kIdleCpus, is.waiting); }

double stopped_share(const MeasuredProgram& is) {
  const double recorded = is.waits && is.wall_ns > 0 ? std::min(1.0, is.waits->stopped_ns / is.wall_ns) : 0;
  return std::max(recorded, is.stopped.value_or(0));
}

double frozen_share(const MeasuredProgram& is) {
  return is.waits && is.wall_ns > 0 ? std::min(1.0, is.waits->frozen_ns / is.wall_ns) : 0;
}

// Of the program itself where its states or sleeps are known. Pressure and iowait are those of the whole machine.
std::optional<RecordLimit> storage_limit(const RecordFacts& facts, const MeasuredProgram& is) {
  if (is.waits && is.wall_ns > 0) {
    if (is.waits->storage_ns < kIoStalled * is.wall_ns) return std::nullopt;
    return RecordLimit{"storage", is.waits->storage_call.empty() ? "storage I/O" : "storage I/O (" + is.waits->storage_call + ")",
                       fmt::format("Its threads slept {} for storage, summed over threads ({}).",
                                   core::format_duration(is.waits->storage_ns), is.waits->storage_text)};
  }
  const auto read = mean_of(facts.series("process.storage_read_bytes_per_second", "tree"));
  const auto written = mean_of(facts.series("process.storage_write_bytes_per_second", "tree"));
  const bool transfers = (!read && !written) || read.value_or(0) + written.value_or(0) >= kFewestBytes;
  if (is.disk_sleep.value_or(0) >= kDiskSleep && transfers)
    return RecordLimit{"storage", "storage I/O",
                       fmt::format("Its processes were in uninterruptible sleep (I/O) in {} of the samples.",
                                   core::format_percent(*is.disk_sleep))};
  const auto stalled = facts.metric("pressure.io_some_ratio");
  const auto io = facts.metric("cpu.iowait_ratio");
  if (transfers && (stalled.value_or(0) >= kIoStalled || (!stalled && is.cores < kIdle && io.value_or(0) >= kIoStalled)))
    return RecordLimit{"storage", "storage I/O", "Tasks waited for storage."};
  return std::nullopt;
}

// A thread that sleeps for storage in each call waits for a CPU at each wake-up, if others use it: what it waits for first is
// storage, without which it would hardly wait.
std::optional<RecordLimit> storage_then_cpu(const MeasuredProgram& is) {
  if (!is.waits || is.wall_ns <= 0) return std::nullopt;
  const RecordedWaits& waits = *is.waits;
  const double both = waits.storage_ns + waits.storage_woken_ns;
  if (waits.storage_ns < kFewestStorage * is.wall_ns || both < kIoStalled * is.wall_ns ||
      waits.storage_woken_ns < kMostly * waits.run_queue_ns)
    return std::nullopt;
  const std::string call = waits.storage_call.empty() ? "" : " (" + waits.storage_call + ")";
  return RecordLimit{
      "storage", "storage I/O" + call + ", and a CPU at each wake-up",
      fmt::format("Its threads slept {} for storage ({}), and then waited {} for a CPU, summed over threads: other work "
                  "took its CPUs meanwhile.",
                  core::format_duration(waits.storage_ns), waits.storage_text, core::format_duration(waits.storage_woken_ns))};
}

// Of a program that computes all the time: what its CPU time went to.
RecordLimit computing(const RecordFacts& facts, const MeasuredProgram& is, std::string title, std::string text) {
  const double system = facts.metric("process.system_ratio").value_or(0);
  if (system < kKernelTime) return {"compute_bound", std::move(title), std::move(text)};
  text += fmt::format(" {} of its CPU time was spent in the kernel", core::format_percent(system));
  const double faults = mean_of(facts.series("process.minor_faults_per_second", "tree")).value_or(0);
  if (faults > 0 && system * is.cores / faults <= kLongestFault)
    return {"page_faults", "kernel time: page faults",
            text + fmt::format(": {:.3g} page faults per second without storage, {} of kernel time per fault.", faults,
                               core::format_duration(1e9 * system * is.cores / faults))};
  return {"kernel_time", "kernel time: system calls", text + ": system calls, or starting processes."};
}

// What its threads did, as shares of their time; without events, of a program with one thread.
struct ThreadTime {
  double computing = 0, asleep = 0;
};
ThreadTime thread_time(const MeasuredProgram& is) {
  double asleep = std::max(0.0, 1 - is.cores - is.waiting);
  if (is.waits && is.wall_ns > 0) {
    asleep = 0;
    for (const auto& [cause, ns] : is.waits->causes) asleep += ns / is.wall_ns;
  }
  const double whole = is.cores + is.waiting + asleep;
  return whole > 0 ? ThreadTime{is.cores / whole, asleep / whole} : ThreadTime{};
}

std::string computed_text(const MeasuredProgram& is) {
  return fmt::format("It kept {:.2g} CPUs busy, and slept or waited beside that{}", is.cores,
                     is.waits ? ": " + is.waits->text + "." : std::string("."));
}

RecordLimit sleeping(const MeasuredProgram& is) {
  const double asleep = thread_time(is).asleep;
  const std::string slept =
      "The program slept " +
      (asleep > kMostly ? std::string("most of the time") : fmt::format("for {} of the time", core::format_percent(asleep)));
  if (is.waits) return {"host_waiting", "host waits", fmt::format("{}. Summed over threads: {}.", slept, is.waits->text)};
  return {"host_waiting", "host waits", slept + ": on timers, locks, the network or other processes (--ebpf records which)."};
}

RecordLimit turns(const MeasuredProgram& is) {
  std::string text = fmt::format(
      "Its threads or processes take turns: {:.2g} of the CPUs that it may use were idle while others of its threads were "
      "runnable. They hand over to each other (a lock such as Python's GIL, a pipe).",
      *is.idle_cpus);
  if (is.waits) text += fmt::format(" Slept, summed over threads: {}.", is.waits->text);
  return {"host_waiting", "hand-over between its threads", std::move(text)};
}

// Share of the quota's periods in which it was used up. Beside other programs a group is throttled for a shorter time, since it
// spends its quota later, but a quota that is used up in most periods is still all it gets.
std::optional<double> throttled_periods(const RecordFacts& facts) {
  const auto throttled = mean_of(facts.series("cgroup.throttled_periods_per_second", "cgroup"));
  const auto periods = mean_of(facts.series("cgroup.periods_per_second", "cgroup"));
  return throttled && periods.value_or(0) > 0 ? std::optional(std::min(1.0, *throttled / *periods)) : std::nullopt;
}

// Stops by ptrace are those of a tracer: by the scheduler's events, or where samples saw processes stopped and a tracer is in the
// command.
std::optional<RecordLimit> traced_limit(const RecordFacts& facts, const MeasuredProgram& is) {
  constexpr std::array<std::string_view, 4> kTracers = {"strace", "ltrace", "gdb", "rr"};
  constexpr double kTracedPerSecond = 100;  // stops, from which each system call or more is traced
  const double recorded = is.waits ? is.waits->traced_ns / std::max(1.0, is.wall_ns) : 0;
  const double count = is.waits ? static_cast<double>(is.waits->traced_count) : 0;
  bool named = false;
  for (const core::Json& word : facts.model.session.request["command"].items())
    named = named || std::find(kTracers.begin(), kTracers.end(), core::base_name(word.text())) != kTracers.end();
  const bool often = count * 1e9 >= kTracedPerSecond * std::max(1.0, is.wall_ns);
  if (!often && recorded < kStopped && !(named && !is.waits && is.stopped.value_or(0) >= kStopped)) return std::nullopt;
  return RecordLimit{
      "process_traced", "a tracer (strace, gdb)",
      count > 0 ? fmt::format("A tracer stopped threads of the program {} times by ptrace, for {} in all: each stop also "
                              "costs switches between it and the tracer.",
                              core::format_count(count), core::format_duration(is.waits->traced_ns))
                : std::string("Its processes were stopped in many samples, and its command runs a tracer (ptrace).")};
}

RecordLimit limit_of(const RecordFacts& facts, const MeasuredProgram& is) {
  if (const double periods = throttled_periods(facts).value_or(0);
      facts.metric("cgroup.throttled_ratio").value_or(0) >= kThrottled || periods >= kThrottledPeriods)
    return {"cpu_throttling", "CPU quota",
            "The program's control group used up its CPU quota" +
                (periods > 0 ? fmt::format(" in {} of its periods", core::format_percent(periods)) : std::string()) +
                " and was throttled."};
  if (const auto tracer = traced_limit(facts, is)) return *tracer;
  if (const double stopped = stopped_share(is); stopped >= kStopped)
    return {"process_stopped", "stops (SIGSTOP)",
            fmt::format("Processes of the program were stopped by a signal (SIGSTOP, a terminal) for {} of the time.",
                        core::format_percent(stopped))};
  if (const double frozen = frozen_share(is); frozen >= kStopped)
    return {"process_frozen", "freezes (cgroup freezer)",
            fmt::format("Threads of the program were frozen by the freezer of their control group for {} of the time.",
                        core::format_percent(frozen))};
  if (waits_runnable(is) && takes_turns(is)) return turns(is);
  if (waits_runnable(is) && waits_most(is)) {
    if (auto storage = storage_then_cpu(is)) return *std::move(storage);
    return {"cpu_contention", "waiting for a CPU", "Runnable threads waited because no CPU that they may use was free."};
  }
  if (gpu_use(facts).value_or(0) >= kGpuBusy)
    return {"gpu_busy", "the GPU",
            "The GPU was busy most of the time: trace it ('aaco record --profile', or a framework's profiler)."};
  if (auto storage = storage_limit(facts, is)) return *std::move(storage);
  if (mean_of(facts.series("process.major_faults_per_second", "tree")).value_or(0) >= kMajorFaults)
    return {"page_faults", "page faults from storage", "Memory had to be read from storage first."};
  if (is.cpus && is.cores >= kCpusBusy * *is.cpus)
    return computing(facts, is, "CPU computation", "All CPUs that the program may use were busy with it.");
  if (waits_runnable(is))
    return computing(facts, is, "CPU computation",
                     fmt::format("Its threads computed for {} of the time that they did not sleep, and waited for a CPU in "
                                 "the remaining time: other work took its CPUs.",
                                 core::format_percent(is.cores / (is.cores + is.waiting))));
  if (is.cores >= 0.9 && is.cores <= 1.1)
    return computing(
        facts, is, "one CPU",
        "About one CPU was busy throughout: one thread, one process after another, or threads that take turns (a lock)." +
            (is.waits ? " Slept, summed over threads: " + is.waits->text + "." : std::string()));
  if (is.unsampled >= kMostlyUnsampled && counts_unsampled(is) && !is.waits)
    return {"inconclusive", "",
            "Cannot tell: processes too short to be sampled used much of the CPU time, and what they waited for is unknown."};
  if (is.cores < kIdle) return sleeping(is);
  // What is most of its threads' time; threads that only wait for work do not hide the one that computes.
  const ThreadTime time = thread_time(is);
  if ((is.cores > kMostly && is.cores <= 1.1) || (is.waits && time.computing > kMostly))
    return computing(facts, is, "CPU computation", computed_text(is));
  if (is.cores <= kMostly && time.asleep > kMostly && is.waiting_at_least < is.cores) return sleeping(is);
  return {"inconclusive", "", "No resource was near its limit all the time: profile the phases that take long."};
}

}  // namespace

std::optional<RecordVerdict> record_verdict(const report::ReportModel& model) {
  const RecordFacts facts{model};
  const auto* use = facts.series("process.cpu_use_cores", "tree");
  const auto cores = facts.metric("process.cpu_use_cores") ? facts.metric("process.cpu_use_cores") : mean_of(use);
  if (!cores) return std::nullopt;
  const core::Json& cpu = model.environment["cpu"];
  const auto count = cpu[cpu.contains("allowed_cpus") ? "allowed_cpus" : "logical_cpus"].as_f64();
  const MeasuredProgram is = measured(facts, *cores, count);
  auto ended = out_of_memory(facts);
  const RecordLimit limit = ended ? *std::move(ended) : by_memory_limit(facts, limit_of(facts, is));
  RecordVerdict out;
  const auto gpu = gpu_use(facts);
  out.sentence = fmt::format("{:.3g}{} CPUs busy", *cores, count ? fmt::format(" of {:.0f}", *count) : "");
  if (gpu) out.sentence += ", GPU busy " + core::format_percent(*gpu);
  out.sentence += limit.title.empty() ? (limit.text.starts_with("Cannot tell") ? "; limit not determined" : "; no single limit")
                                      : fmt::format("; limited by {}", limit.title);
  out.why.id = limit.id;
  out.why.title = limit.title.empty() ? "Bottleneck not determined" : fmt::format("Limited by {}", limit.title);
  out.why.text = limit.text;
  auto& evidence = out.why.evidence;
  evidence.push_back(fmt::format("process.cpu_use_cores {:.3g}: CPUs kept busy by the program", *cores));
  const auto add = [&](std::string_view id, std::string_view meaning, std::optional<double> value, bool ratio) {
    if (value && *value > 0)
      evidence.push_back(
          fmt::format("{} {}: {}", id, ratio ? core::format_percent(*value) : fmt::format("{:.3g}", *value), meaning));
  };
  if (is.unsampled >= kUnsampled && counts_unsampled(is))
    evidence.push_back(
        fmt::format("{} of the CPU time was in processes too short to be sampled; it is counted, their waits are not",
                    core::format_percent(is.unsampled)));
  add("process.system_ratio", "share of the CPU time spent in the kernel", facts.metric("process.system_ratio"), true);
  add("process.run_queue_wait_ratio", "time its threads waited for a CPU, summed over threads",
      facts.metric("process.run_queue_wait_ratio"), true);
  add("cgroup.throttled_ratio", "time stopped by the CPU quota", facts.metric("cgroup.throttled_ratio"), true);
  add("cgroup.oom_kills", "processes of its control group that the kernel killed because memory ran out",
      facts.metric("cgroup.oom_kills"), false);
  if (facts.metric("cgroup.memory_limit_hits").value_or(0) > 0)
    evidence.push_back(fmt::format("cgroup.memory_limit_hits {}: {}",
                                   core::format_count(*facts.metric("cgroup.memory_limit_hits")), memory_limit_of(facts)));
  add("process.stopped_ratio", "share of the samples with a stopped process (SIGSTOP)", is.stopped, true);
  add("process.disk_sleep_ratio", "share of the samples with a process in uninterruptible sleep (storage, or vfork)",
      is.disk_sleep, true);
  add("pressure.io_some_ratio", "time in which some task of the machine waited for storage",
      facts.metric("pressure.io_some_ratio"), true);
  for (const auto& [id, meaning] : {std::pair("process.storage_read_bytes_per_second", "bytes read from storage per second"),
                                    std::pair("process.storage_write_bytes_per_second", "bytes written to storage per second"),
                                    std::pair("process.major_faults_per_second", "page faults that read storage, per second"),
                                    std::pair("process.minor_faults_per_second", "page faults without storage, per second")})
    add(id, meaning, mean_of(facts.series(id, "tree")), false);
  if (gpu) add("gpu.use_ratio", "GPU use, mean over the GPUs", gpu, true);
  if (is.waits && is.waits->run_queue_ns > 0)
    evidence.push_back("runnable without a CPU, summed over threads: " + core::format_duration(is.waits->run_queue_ns));
  if (is.waits) evidence.push_back("slept, summed over threads: " + is.waits->text);
  if (const auto who = busiest_process(facts.model))
    evidence.push_back(fmt::format("{} of the CPU time is of {}", core::format_percent(who->second), who->first));
  const auto* counter = facts.series("process.cpu_time_seconds", "tree");
  if (is.unsampled >= kUnsampled && counter != nullptr && counter->value.size() >= 2 * kPhases)
    evidence.push_back("CPUs busy, by quarter of the run: " + quarters_of(*counter));
  else if (use != nullptr && use->value.size() >= 2 * kPhases)
    evidence.push_back("CPUs busy, by quarter of the run: " + phases_of(*use));
  return out;
}

}  // namespace aaco::workflows
