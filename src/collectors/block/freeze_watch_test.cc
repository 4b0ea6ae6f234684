#include "collectors/freeze_watch.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::collectors {
namespace {

using testing::FakeMachine;

FakeMachine frozen_machine() {
  FakeMachine machine;
  machine.write("/proc/self/mountinfo", "32 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  machine.write("/proc/self/cgroup", "0::/job\n");
  machine.write("/sys/fs/cgroup/job/cgroup.procs", "\n");
  machine.write("/sys/fs/cgroup/job/cgroup.freeze", "0\n");
  machine.write("/sys/fs/cgroup/job/cgroup.stat.local", "frozen_usec 1500\n");
  return machine;
}

TEST(FreezeWatch, TellsThatTheFreezerWasUsedAndForHowLong) {
  const FakeMachine machine = frozen_machine();
  FreezeWatch watch({machine.root()}, 0);
  EXPECT_TRUE(watch.recorded());
  EXPECT_FALSE(watch.used());
  EXPECT_EQ(watch.frozen_ns(), 1'500'000);
  machine.write("/sys/fs/cgroup/job/cgroup.freeze", "1\n");
  machine.write("/sys/fs/cgroup/job/cgroup.freeze", "0\n");
  machine.write("/sys/fs/cgroup/job/cgroup.stat.local", "frozen_usec 2500\n");
  EXPECT_TRUE(watch.used());
  EXPECT_FALSE(watch.used()) << "told once";
  EXPECT_EQ(watch.frozen_ns(), 2'500'000);
}
TEST(FreezeWatch, WithoutAFreezerNothingIsRecorded) {
  const FakeMachine machine;
  FreezeWatch watch({machine.root()}, 0);
  EXPECT_FALSE(watch.recorded());
  EXPECT_FALSE(watch.used());
  EXPECT_FALSE(watch.frozen_ns());
}
TEST(FreezeWatch, DamagedTimesAreNone) {
  EXPECT_EQ(parse_frozen_ns("frozen_usec 3\n"), 3000);
  EXPECT_FALSE(parse_frozen_ns(""));
  EXPECT_FALSE(parse_frozen_ns("frozen_usec x\n"));
  EXPECT_FALSE(parse_frozen_ns("frozen_usec 18446744073709551615\n"));
}

}  // namespace
}  // namespace aaco::collectors
