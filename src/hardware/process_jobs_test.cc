#include "hardware/process_jobs.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

using aaco::testing::FakeMachine;
using namespace std::string_literals;

std::vector<ProcessJob> jobs_of(const std::string& environ) {
  const FakeMachine machine;
  machine.write("/proc/42/environ", environ);
  machine.write("/proc/42/cgroup", "0::/system.slice\n");
  machine.write("/proc/meminfo", "MemTotal: 1 kB\n");
  return find_process_jobs(machine.root());
}

TEST(ProcessJobs, SlurmRankIsFound) {
  const auto jobs = jobs_of("A=1\0SLURM_JOB_ID=77\0SLURM_PROCID=9\0SLURM_LOCALID=1\0"s);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].process_id, 42);
  EXPECT_EQ(jobs[0].job, "77");
  EXPECT_EQ(jobs[0].rank, 9);
  EXPECT_EQ(jobs[0].local_rank, 1);
}
TEST(ProcessJobs, TorchrunRankHasItsRunId) {
  const auto jobs = jobs_of("RANK=3\0LOCAL_RANK=3\0TORCHELASTIC_RUN_ID=train-7\0"s);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].job, "train-7");
}
TEST(ProcessJobs, RankInAPodHasThePod) {
  const auto jobs = jobs_of("RANK=0\0KUBERNETES_SERVICE_HOST=10.0.0.1\0POD_NAME=trainer-0\0"s);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].job, "trainer-0");
}
TEST(ProcessJobs, ProcessWithoutRankIsLeftOut) { EXPECT_TRUE(jobs_of("SLURM_JOB_ID=77\0"s).empty()); }
TEST(ProcessJobs, RankWithoutJobIsLeftOut) { EXPECT_TRUE(jobs_of("RANK=0\0TORCHELASTIC_RUN_ID=none\0"s).empty()); }
TEST(ProcessJobs, InvalidRankIsLeftOut) { EXPECT_TRUE(jobs_of("RANK=first\0SLURM_JOB_ID=77\0"s).empty()); }
TEST(ProcessJobs, MachineWithoutProcHasNone) { EXPECT_TRUE(find_process_jobs("/nonexistent").empty()); }

}  // namespace
}  // namespace aaco::hardware
