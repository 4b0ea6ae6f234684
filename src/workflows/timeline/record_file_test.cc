#include "workflows/timeline/record_file.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aaco::workflows {
namespace {

class RecordFileTest : public testing::Test {
 protected:
  // What comes back of `count` records.
  std::vector<std::int64_t> kept(std::size_t count, std::size_t batches) {
    RecordFile<std::int64_t> file(core::join_path(folder_.path(), "spill"));
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(file.add(static_cast<std::int64_t>(i)));
    EXPECT_EQ(file.batches(), batches);
    std::vector<std::int64_t> rows;
    EXPECT_TRUE(file.visit([&](std::int64_t row) { rows.push_back(row); }));
    return rows;
  }
  static std::vector<std::int64_t> first(std::size_t count) {
    std::vector<std::int64_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make(testing::TempDir(), "records");
  static constexpr std::size_t kBatch = RecordFile<std::int64_t>::kBatch;
};

TEST_F(RecordFileTest, NoneAreNone) { EXPECT_TRUE(kept(0, 0).empty()); }
TEST_F(RecordFileTest, FewStayInMemory) {
  EXPECT_EQ(kept(kBatch - 1, 0), first(kBatch - 1));
  EXPECT_FALSE(core::exists(core::join_path(folder_.path(), "spill")));
}
TEST_F(RecordFileTest, AFullBatchIsInTheFile) { EXPECT_EQ(kept(kBatch, 1), first(kBatch)); }
TEST_F(RecordFileTest, ManyKeepTheirOrder) { EXPECT_EQ(kept(5 * kBatch + 3, 5), first(5 * kBatch + 3)); }
TEST_F(RecordFileTest, FailsWhereTheFolderCannotBe) {
  RecordFile<std::int64_t> file("/proc/no/such/folder");
  core::Status status;
  for (std::size_t i = 0; i < kBatch && status; ++i) status = file.add(1);
  EXPECT_FALSE(status);
}

}  // namespace
}  // namespace aaco::workflows
