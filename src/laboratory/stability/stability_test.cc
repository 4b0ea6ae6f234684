#include "laboratory/stability.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

namespace aaco::laboratory::stability {
namespace {

TEST(Stability, MeasuresBothLoopsInEveryProcess) {
  const std::atomic<bool> never{false};
  const auto sample = measure({core::Nanoseconds(600'000'000), 2}, never, [](std::string_view) {});
  ASSERT_TRUE(sample) << sample.error().text();
  ASSERT_EQ(sample->loops.size(), 2U);
  ASSERT_EQ(sample->slices.size(), 2U);
  for (const auto& loop : sample->loops) {
    ASSERT_EQ(loop.processes.size(), 2U) << loop.id;
    for (const auto& calls : loop.processes)
      for (const double ns : calls) EXPECT_GT(ns, 0);
  }
  for (const auto& row : sample->slices) {
    EXPECT_GT(row.end_ns, row.start_ns);
    EXPECT_GT(row.process_cpu_ns.value_or(0), 0);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Stability, TooShortIsRefusedAndAStopEndsIt) {
  const std::atomic<bool> never{false}, now{true};
  EXPECT_EQ(measure({core::Nanoseconds(1'000'000), 2}, never, [](std::string_view) {}).error().code,
            core::ErrorCode::invalid_argument);
  EXPECT_TRUE(measure({core::Nanoseconds(3'000'000'000), 2}, now, [](std::string_view) {})->slices.empty());
}

}  // namespace
}  // namespace aaco::laboratory::stability
