#include "workflows/session_report/record_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A recorded program on a machine of four CPUs.
struct Recorded {
  report::ReportModel model;
  explicit Recorded(double cores) {
    model.session.kind = "record";
    model.environment = core::Json::object({{"cpu", core::Json::object({{"allowed_cpus", 4}, {"logical_cpus", 8}})}});
    metric("process.cpu_use_cores", cores);
  }
  Recorded& metric(const std::string& id, double value) {
    model.metrics.push_back({id, value, "", {}, {}});
    return *this;
  }
  Recorded& series(const std::string& id, const std::string& entity, std::vector<double> values) {
    report::Series one;
    one.metric = id;
    one.entity = entity;
    for (std::size_t i = 0; i < values.size(); ++i) one.time_ns.push_back(static_cast<std::int64_t>(i) * 1'000'000);
    one.value = std::move(values);
    model.telemetry.push_back(std::move(one));
    return *this;
  }
  [[nodiscard]] std::string limit() const { return record_verdict(model)->why.id; }
};

TEST(RecordVerdict, NamesWhatLimitsTheProgram) {
  EXPECT_EQ(Recorded(3.9).limit(), "compute_bound");
  EXPECT_EQ(Recorded(1.0).limit(), "compute_bound");
  EXPECT_EQ(Recorded(0.05).limit(), "host_waiting");
  EXPECT_EQ(Recorded(2).limit(), "inconclusive");
  EXPECT_EQ(Recorded(2).metric("process.run_queue_wait_ratio", 2.1).limit(), "cpu_contention");
  EXPECT_EQ(Recorded(2).metric("cgroup.throttled_ratio", 0.4).limit(), "cpu_throttling");
  EXPECT_EQ(Recorded(0.1).metric("pressure.io_some_ratio", 0.6).limit(), "storage");
  EXPECT_EQ(Recorded(0.1).series("process.major_faults_per_second", "tree", {400, 600}).limit(), "page_faults");
  EXPECT_EQ(Recorded(1).metric("gpu.use_ratio", 0.95).limit(), "gpu_busy");
}

// Beside other programs the quota is spent later in each period: the time throttled is short, but there is no more to get.
TEST(RecordVerdict, AQuotaThatIsUsedUpInMostPeriodsLimits) {
  const auto beside_others = [](double throttled) {
    Recorded out(0.28);
    out.metric("process.run_queue_wait_ratio", 1).metric("cgroup.throttled_ratio", 0.09);
    out.series("cgroup.periods_per_second", "cgroup", {10, 10});
    return out.series("cgroup.throttled_periods_per_second", "cgroup", {throttled, throttled});
  };
  EXPECT_EQ(beside_others(8).limit(), "cpu_throttling");
  EXPECT_THAT(record_verdict(beside_others(8).model)->why.text, HasSubstr("in 80.0 % of its periods"));
  EXPECT_EQ(beside_others(1).limit(), "cpu_contention");
}

TEST(RecordVerdict, AProgramThatTheKernelKilledRanOutOfMemory) {
  Recorded killed(0.4);
  killed.metric("process.run_queue_wait_ratio", 1).metric("cgroup.memory_limit_bytes", 60 << 20).metric("cgroup.oom_kills", 1);
  killed.metric("cgroup.memory_limit_hits", 30);
  killed.model.session.outcome.exit_code = 137;
  EXPECT_EQ(killed.limit(), "out_of_memory") << "not the CPU that it waited for before";
  EXPECT_THAT(
      record_verdict(killed.model)->why.text,
      HasSubstr("killed the program because memory ran out: the memory limit of its control group, 60.0 MiB (reached 30 times)"));
  killed.model.session.outcome.exit_code = 1;
  EXPECT_THAT(record_verdict(killed.model)->why.text, HasSubstr("killed 1 of the processes in its control group"));
  Recorded signalled(0.4);
  signalled.metric("cgroup.oom_kills", 0).metric("cgroup.memory_limit_bytes", 60 << 20);
  signalled.model.session.outcome.exit_code = 137;
  EXPECT_NE(signalled.limit(), "out_of_memory") << "someone else's SIGKILL";
}

TEST(RecordVerdict, AFullMemoryLimitIsWhyPagesAreReadAgain) {
  const auto limited = [](double hits) {
    Recorded out(0.1);
    out.model.session.outcome.wall_ns = 10'000'000'000;
    out.metric("cgroup.memory_limit_bytes", 60 << 20).metric("cgroup.memory_limit_hits", hits);
    return out.series("process.major_faults_per_second", "tree", {400, 600});
  };
  EXPECT_EQ(limited(500).limit(), "memory_limit");
  EXPECT_THAT(record_verdict(limited(500).model)->why.text, HasSubstr("60.0 MiB (reached 500 times)"));
  EXPECT_EQ(limited(20).limit(), "page_faults");
  Recorded computing(3.9);
  computing.model.session.outcome.wall_ns = 10'000'000'000;
  EXPECT_EQ(computing.metric("cgroup.memory_limit_hits", 500).limit(), "compute_bound") << "a full page cache costs nothing here";
}

// Four threads under one lock, on a machine of whose CPUs the program may use two.
TEST(RecordVerdict, ThreadsThatTakeTurnsDoNotWaitForACpu) {
  const auto turns = [](double use_of_the_other) {
    Recorded out(0.97);
    out.model.environment = core::Json::object(
        {{"cpu", core::Json::object({{"allowed_cpus", 2}, {"allowed_cpu_list", "0-1"}, {"logical_cpus", 4}})}});
    for (const auto& [cpu, use] : {std::pair("cpu0", 0.97), std::pair("cpu1", use_of_the_other), std::pair("cpu2", 0.0)})
      out.series("cpu.use_ratio", cpu, {use, use});
    return out.metric("process.run_queue_wait_ratio", 0.42);
  };
  EXPECT_EQ(turns(0.05).limit(), "host_waiting");
  EXPECT_THAT(record_verdict(turns(0.05).model)->why.text, HasSubstr("0.98 of the CPUs that it may use were idle"));
  EXPECT_EQ(turns(0.98).limit(), "compute_bound") << "other programs use it, and it computes for longer than it waits";
  EXPECT_EQ(turns(0.7).limit(), "compute_bound") << "fewer CPUs were idle than threads runnable";
  Recorded unknown = turns(0.05);
  unknown.model.telemetry.pop_back(), unknown.model.telemetry.pop_back();
  EXPECT_EQ(unknown.limit(), "compute_bound") << "nothing is known of the second CPU";
}

TEST(RecordVerdict, SleepingProgramsDoNotWaitForACpu) {
  EXPECT_EQ(Recorded(0.0271).metric("process.run_queue_wait_ratio", 0.009).limit(), "host_waiting");
  EXPECT_EQ(Recorded(0.28).metric("process.run_queue_wait_ratio", 0.0728).limit(), "host_waiting");
  EXPECT_EQ(Recorded(0.2).metric("process.run_queue_wait_ratio", 0.2).limit(), "host_waiting") << "it sleeps 60 % of the time";
  EXPECT_EQ(Recorded(0.45).metric("process.run_queue_wait_ratio", 0.5).limit(), "cpu_contention");
  Recorded uncertain(0.5);
  uncertain.model.metrics.push_back({"process.run_queue_wait_ratio", 0.5, "ratio", trace::Interval{0, 1.1}, {}});
  EXPECT_EQ(uncertain.limit(), "inconclusive");
}

TEST(RecordVerdict, TheHeadlineIsTheLargestPart) {
  Recorded beside(0.77);
  beside.metric("process.run_queue_wait_ratio", 0.227);
  EXPECT_EQ(beside.limit(), "compute_bound") << "it computes for 77 % of the time";
  EXPECT_THAT(record_verdict(beside.model)->why.text, HasSubstr("computed for 77.2 % of the time that they did not sleep"));
  EXPECT_EQ(Recorded(0.6).limit(), "compute_bound");
  EXPECT_EQ(Recorded(0.4).limit(), "host_waiting") << "it sleeps for 60 %";
  Recorded third(0.29);
  third.metric("process.run_queue_wait_ratio", 0.28);
  EXPECT_THAT(record_verdict(third.model)->why.text, HasSubstr("slept for 43.0 % of the time")) << "not most of it";
}

TEST(RecordVerdict, UnsampledTimeIsNamedAndLeavesNoCauseInvented) {
  const auto why = record_verdict(Recorded(0.6).metric("process.cpu_unsampled_ratio", 0.9).model)->why;
  EXPECT_EQ(why.id, "inconclusive");
  EXPECT_THAT(why.text, HasSubstr("Cannot tell"));
  EXPECT_THAT(why.evidence, Contains(HasSubstr("90.0 % of the CPU time was in processes too short to be sampled")));
  EXPECT_EQ(Recorded(0.1).metric("process.cpu_unsampled_ratio", 0.9).limit(), "inconclusive");
  EXPECT_EQ(Recorded(3.9).metric("process.cpu_unsampled_ratio", 0.9).limit(), "compute_bound");
  EXPECT_EQ(Recorded(0.02).metric("process.cpu_unsampled_ratio", 0.9).limit(), "host_waiting") << "its start only";
  const auto few = record_verdict(Recorded(2).metric("process.cpu_unsampled_ratio", 0.02).model)->why;
  EXPECT_THAT(few.evidence, Not(Contains(HasSubstr("too short"))));
}

TEST(RecordVerdict, KernelTimeIsNamed) {
  Recorded faults(0.93);
  faults.metric("process.system_ratio", 0.91).series("process.minor_faults_per_second", "tree", {235000, 235000});
  const auto why = record_verdict(faults.model)->why;
  EXPECT_EQ(why.id, "page_faults");
  EXPECT_EQ(why.title, "Limited by kernel time: page faults");
  EXPECT_THAT(why.text, HasSubstr("91.0 % of its CPU time was spent in the kernel"));
  EXPECT_EQ(Recorded(0.93).metric("process.system_ratio", 0.91).limit(), "kernel_time");
  EXPECT_EQ(Recorded(0.93).metric("process.system_ratio", 0.3).limit(), "compute_bound");
  EXPECT_THAT(record_verdict(Recorded(3.9).model)->why.text, HasSubstr("All CPUs that the program may use"));
}

TEST(RecordVerdict, StorageIsJudgedByTheProgramItself) {
  EXPECT_EQ(Recorded(0.3).metric("process.disk_sleep_ratio", 0.6).limit(), "storage");
  Recorded silent(0.1);  // another program's I/O
  silent.metric("pressure.io_some_ratio", 0.6).series("process.storage_write_bytes_per_second", "tree", {0, 0});
  EXPECT_EQ(silent.limit(), "host_waiting");
}

TEST(RecordVerdict, StopsAreNamed) {
  EXPECT_EQ(Recorded(0.1).metric("process.stopped_ratio", 0.8).limit(), "process_stopped");
  EXPECT_EQ(Recorded(0.1).metric("process.stopped_ratio", 0.05).limit(), "host_waiting");
}

// A program of 6 s whose scheduler was watched.
Recorded watched(double cores, std::vector<report::OperatingSystem::Reason> reasons) {
  Recorded out(cores);
  out.model.session.outcome.wall_ns = 6'000'000'000;
  out.model.sections.operating_system = report::OperatingSystem{1, {}, std::move(reasons)};
  return out;
}

TEST(RecordVerdict, EventsNameWhatItSleptFor) {
  const auto io = watched(0.3, {{"off_cpu", "io", "fsync", 62223, 3'820'000'000, 0, 0}});
  EXPECT_EQ(io.limit(), "storage");
  EXPECT_THAT(record_verdict(io.model)->why.text, HasSubstr("io in fsync 3.82 s"));
  const auto lock = watched(0.02, {{"off_cpu", "sleep", "futex", 1267, 24'000'000'000, 0, 0},
                                   {"off_cpu", "sleep", "clock_nanosleep", 593, 5'980'000'000, 0, 0}});
  EXPECT_EQ(lock.limit(), "host_waiting");
  EXPECT_THAT(record_verdict(lock.model)->why.text, HasSubstr("lock or hand-over between threads (futex) 24.0 s, timer"));
  EXPECT_EQ(watched(0.02, {{"off_cpu", "stopped", "", 3, 5'000'000'000, 0, 0}}).limit(), "process_stopped");
  EXPECT_EQ(watched(0.02, {{"off_cpu", "frozen", "", 3, 5'000'000'000, 0, 0}}).limit(), "process_frozen");
  EXPECT_EQ(watched(0.77, {{"off_cpu", "sleep", "wait4", 9, 5'840'000'000, 0, 0},
                           {"run_queue", "preempted", "", 9, 5'200'000'000, 0, 0}})
                .metric("process.cpu_unsampled_ratio", 0.9)
                .limit(),
            "cpu_contention")
      << "events see the waits of short processes";
  auto others = watched(0.1, {{"off_cpu", "sleep", "wait4", 9, 5'000'000'000, 0, 0}});
  EXPECT_EQ(others.metric("pressure.io_some_ratio", 0.6).limit(), "host_waiting") << "the machine's I/O is not the program's";
  EXPECT_EQ(watched(0.1, {{"off_cpu", "disk_sleep", "vfork", 9, 5'000'000'000, 0, 0}}).limit(), "host_waiting");
}

TEST(RecordVerdict, WaitsAtWakeUpsFromACallAreHeadedByTheCall) {
  const auto syncing = [](std::int64_t woken_ns) {
    return watched(0.1, {{"run_queue", "woken", "", 3000, 4'000'000'000, 0, 0},
                         {"off_cpu", "io", "fdatasync", 3000, 1'200'000'000, 0, 0, woken_ns}});
  };
  const auto found = syncing(3'800'000'000);
  EXPECT_EQ(found.limit(), "storage");
  EXPECT_EQ(record_verdict(found.model)->why.title, "Limited by storage I/O (fdatasync), and a CPU at each wake-up");
  EXPECT_THAT(record_verdict(found.model)->why.text, HasSubstr("then waited 3.80 s for a CPU"));
  EXPECT_EQ(syncing(500'000'000).limit(), "cpu_contention") << "most of the waits follow no sleep for storage";
}

TEST(RecordVerdict, ATracerIsNotSigstop) {
  const auto traced = watched(0.5, {{"off_cpu", "sleep", "wait4", 108929, 2'600'000'000, 0, 0},
                                    {"off_cpu", "traced", "getpid", 120000, 1'100'000'000, 0, 0}});
  EXPECT_EQ(traced.limit(), "process_traced");
  EXPECT_THAT(record_verdict(traced.model)->why.text, HasSubstr("120,000 times by ptrace"));
  auto sampled = Recorded(0.3).metric("process.stopped_ratio", 0.4);
  EXPECT_EQ(sampled.limit(), "process_stopped");
  sampled.model.session.request =
      core::Json::object({{"command", core::Json::texts(std::vector<std::string>{"/usr/bin/strace", "-f", "./w"})}});
  EXPECT_EQ(sampled.limit(), "process_traced");
  EXPECT_NE(watched(0.9, {{"off_cpu", "traced", "execve", 2, 1'000'000, 0, 0}}).limit(), "process_traced");
}

TEST(RecordVerdict, SaysHowMuchOfTheMachineWasUsed) {
  const auto found = record_verdict(Recorded(1.84).metric("gpu.use_ratio", 0.5).model);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sentence, "1.84 of 4 CPUs busy, GPU busy 50.0 %; no single limit");
  EXPECT_FALSE(found->why.confidence_ratio) << "the thresholds are not calibrated";
}

TEST(RecordVerdict, NamesTheProcessThatTookTheTime) {
  Recorded with(2);
  with.series("process.cpu_time_seconds", "pid 10", {0, 1}).series("process.cpu_time_seconds", "pid 11", {0, 9});
  EXPECT_THAT(record_verdict(with.model)->why.evidence, Contains(HasSubstr("90.0 % of the CPU time is of pid 11")));
  Recorded alone(2);
  alone.series("process.cpu_time_seconds", "pid 10", {0, 9});
  EXPECT_THAT(record_verdict(alone.model)->why.evidence, Not(Contains(HasSubstr("of the CPU time"))));
}

TEST(RecordVerdict, PhasesAreSeen) {
  Recorded with(2);
  with.series("process.cpu_use_cores", "tree", {0, 0, 4, 4, 4, 4, 1, 1});
  EXPECT_THAT(record_verdict(with.model)->why.evidence, Contains(HasSubstr("by quarter of the run: 0, 4, 4, 1")));
}

TEST(RecordVerdict, MissingCpuUseGivesNone) {
  report::ReportModel model;
  EXPECT_FALSE(record_verdict(model));
  model.metrics.push_back({"gpu.use_ratio", 0.9, "ratio", {}, {}});
  EXPECT_FALSE(record_verdict(model));
}

}  // namespace
}  // namespace aaco::workflows
