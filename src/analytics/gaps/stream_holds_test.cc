#include "analytics/stream_holds.h"

#include <gtest/gtest.h>

namespace aaco::analytics::gaps {
namespace {

constexpr std::int64_t kMs = 1'000'000;

HoldCall hold(Hold kind, std::int64_t start_ns, std::uint32_t name = 1) {
  return {start_ns, start_ns + 1'000, trace::NameId{name}, kind};
}

TEST(HoldOf, NamesOfCudaAndHip) {
  EXPECT_EQ(hold_of("cudaStreamWaitEvent"), Hold::event);
  EXPECT_EQ(hold_of("hipStreamWaitEvent_spt"), Hold::event);
  EXPECT_EQ(hold_of("cuLaunchHostFunc"), Hold::host_function);
  EXPECT_EQ(hold_of("hipStreamAddCallback"), Hold::host_function);
  EXPECT_EQ(hold_of("cuStreamWaitValue32_v2"), Hold::value);
  EXPECT_EQ(hold_of("cudaWaitExternalSemaphoresAsync_v2"), Hold::value);
  for (const char* none : {"cudaEventRecord", "cudaStreamSynchronize", "cudaLaunchKernel", "hipEventSynchronize", ""})
    EXPECT_FALSE(hold_of(none)) << none;
}

TEST(StreamHolds, BelongsToTheLaunchThatFollows) {
  StreamHolds holds;
  holds.add(0, 1, hold(Hold::event, 10 * kMs, 7));
  ASSERT_TRUE(holds.before(0, 1, 10 * kMs + 50'000, {}));
  EXPECT_EQ(holds.before(0, 1, 10 * kMs + 50'000, {})->name.value, 7U);
  EXPECT_FALSE(holds.before(0, 1, 10 * kMs + 500, {})) << "the call had not returned";
  EXPECT_FALSE(holds.before(0, 1, 9 * kMs, {})) << "a later call";
  EXPECT_FALSE(holds.before(0, 2, 10 * kMs + 50'000, {})) << "another thread";
  EXPECT_FALSE(holds.before(1, 1, 10 * kMs + 50'000, {})) << "another rank";
}
TEST(StreamHolds, LongBeforeOnlyIfNothingWasLaunchedThereSince) {
  StreamHolds holds;
  holds.add(0, 1, hold(Hold::event, 10 * kMs));
  EXPECT_FALSE(holds.before(0, 1, 20 * kMs, {}));
  EXPECT_TRUE(holds.before(0, 1, 20 * kMs, 9 * kMs));
  EXPECT_FALSE(holds.before(0, 1, 20 * kMs, 11 * kMs)) << "the work launched at 11 ms was what it held back";
}
TEST(StreamHolds, AFunctionAheadOfTheEventIsWhatItWaitsFor) {
  StreamHolds holds;
  holds.add(0, 1, hold(Hold::host_function, 10 * kMs, 3));
  holds.add(0, 1, hold(Hold::event, 10 * kMs + 20'000, 4));
  EXPECT_EQ(holds.before(0, 1, 10 * kMs + 40'000, {})->hold, Hold::host_function);
  holds.add(0, 1, hold(Hold::value, 10 * kMs + 60'000, 5));
  EXPECT_EQ(holds.before(0, 1, 10 * kMs + 90'000, {})->hold, Hold::value) << "the newest";
  EXPECT_FALSE(holds.before(0, 1, 11 * kMs, {}));
}
TEST(StreamHolds, MemoryIsBounded) {
  StreamHolds holds;
  for (std::int64_t i = 0; i < 10'000; ++i) holds.add(0, 1, hold(Hold::event, i * kMs));
  for (std::int64_t thread = 2; thread < 10'000; ++thread) holds.add(0, thread, hold(Hold::event, kMs));
  EXPECT_FALSE(holds.before(0, 1, 10 * kMs + 5'000, {})) << "forgotten";
  EXPECT_TRUE(holds.before(0, 1, 9'999 * kMs + 5'000, {}));
  EXPECT_FALSE(holds.before(0, 9'000, kMs + 5'000, {})) << "too many threads";
}

}  // namespace
}  // namespace aaco::analytics::gaps
