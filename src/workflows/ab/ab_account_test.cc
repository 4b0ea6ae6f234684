#include "workflows/ab/ab_account.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

TEST(AbAccount, KnownFieldsArriveOthersStayUnknown) {
  trace::LoopBlockRow row;
  row.caller_cpu_ns = 5;
  row.interrupts = 0;
  trace::LoopBlockRow back;
  back.migrations = 7;  // from before
  read_account(*core::Json::parse(account_json(row).dump()), back);
  EXPECT_EQ(back, row);
}

TEST(AbAccount, NonsenseIsNotMeasured) {
  trace::LoopBlockRow row;
  read_account(*core::Json::parse(R"({"caller_cpu_ns": "many", "steal_ns": 1.5, "faults": 3})"), row);
  EXPECT_EQ(row, trace::LoopBlockRow());
}

}  // namespace
}  // namespace aaco::workflows
