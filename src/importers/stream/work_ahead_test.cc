#include "importers/stream/work_ahead.h"

#include <gtest/gtest.h>

namespace aaco::importers {
namespace {

struct Number {
  int value = -1;
};

TEST(WorkAhead, BatchesComeInOrder) {
  int filled = 0, used = 0;
  const auto status = work_ahead<Number>(
      [&](Number& batch) -> core::Result<bool> {
        batch.value = filled++;
        return filled <= 1000;
      },
      [&](const Number& batch) -> core::Status {
        EXPECT_EQ(batch.value, used++);
        return {};
      });
  EXPECT_TRUE(status);
  EXPECT_EQ(used, 1000);
}

TEST(WorkAhead, UsesBatchesBeforeAnError) {
  int filled = 0, used = 0;
  const auto status = work_ahead<Number>(
      [&](Number&) -> core::Result<bool> {
        if (filled++ == 20) return core::fail(core::ErrorCode::io, "the disk is gone");
        return true;
      },
      [&](const Number&) -> core::Status {
        ++used;
        return {};
      });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is gone");
  EXPECT_EQ(used, 20);
}

TEST(WorkAhead, StopsEndlessWork) {
  int used = 0;
  const auto status = work_ahead<Number>([](Number&) -> core::Result<bool> { return true; },
                                         [&](const Number&) -> core::Status {
                                           if (++used == 50) return core::fail(core::ErrorCode::cancelled, "enough");
                                           return {};
                                         });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(used, 50);
}

TEST(WorkAhead, NoBatches) {
  EXPECT_TRUE(work_ahead<Number>([](Number&) -> core::Result<bool> { return false; },
                                 [](const Number&) -> core::Status { return core::fail(core::ErrorCode::io, "called"); }));
}

}  // namespace
}  // namespace aaco::importers
