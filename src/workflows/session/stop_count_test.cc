#include "workflows/session/stop_count.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace aaco::workflows {
namespace {

TEST(StopCount, CountsContinuationsWhileItLives) {
  struct sigaction before {
  }, after{};
  ASSERT_EQ(sigaction(SIGCONT, nullptr, &before), 0);
  {
    const StopCount stops;
    const std::int64_t none = stops.count();
    raise(SIGCONT);
    raise(SIGCONT);
    EXPECT_EQ(stops.count() - none, 2);
  }
  ASSERT_EQ(sigaction(SIGCONT, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler) << "put back";
}

}  // namespace
}  // namespace aaco::workflows
