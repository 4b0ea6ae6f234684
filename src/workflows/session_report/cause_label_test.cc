#include <gtest/gtest.h>

#include "workflows/explain.h"

namespace aaco::workflows {
namespace {

using core::Json;

TEST(CauseLabel, IdleTimeBesideBusyKernelsIsAvoidable) {
  const Json idle = Json::object({{"id", "data-loading"}, {"idle_ns", 5}});
  EXPECT_EQ(cause_label("device_busy", idle), "Largest avoidable part");
  EXPECT_EQ(cause_label("host_waiting", idle), "Cause");
  EXPECT_EQ(cause_label("device_busy", Json::object({{"id", "matrix-products"}})), "Cause");
  EXPECT_EQ(cause_label("host_waiting", Json::object({{"id", "unknown"}, {"idle_ns", 5}})), "Cause unknown");
  EXPECT_EQ(cause_label("", Json()), "Cause");
}

}  // namespace
}  // namespace aaco::workflows
