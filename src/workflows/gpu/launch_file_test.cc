#include "workflows/gpu/launch_file.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random.h"

namespace aaco::workflows {
namespace {

using analytics::attribution::ExternalOperator;
using analytics::attribution::Launch;

Launch launch(std::int32_t rank, std::uint64_t id, std::int64_t start, bool launches = true) {
  Launch out;
  out.rank = rank;
  out.correlation_id = id;
  out.start_ns = start;
  out.launches = launches;
  return out;
}

class LaunchFileTest : public testing::Test {
 protected:
  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make(testing::TempDir(), "launches");
  LaunchFile small_{core::join_path(folder_.path(), "spill"), 512};  // every 512 records go to the file
};

TEST_F(LaunchFileTest, FindsAllOfManyRunsInAnyOrder) {
  core::Random random(11);
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int64_t> expected;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const auto rank = static_cast<std::int32_t>(random.below(3));
    const std::uint64_t id = random.below(6'000) + (random.below(10) == 0 ? UINT64_MAX - 10'000 : 1);
    small_.add(launch(rank, id, i));
    expected.try_emplace({rank, id}, i);  // the first stays
  }
  small_.seal();
  for (const auto& [key, start] : expected) {
    const Launch* found = small_.find(key.first, key.second);
    ASSERT_NE(found, nullptr) << key.second;
    EXPECT_EQ(found->start_ns, start);
  }
  EXPECT_EQ(small_.find(7, 1), nullptr);
  EXPECT_EQ(small_.find(0, 123'456'789), nullptr);
  EXPECT_TRUE(small_.status().has_value());
}
TEST_F(LaunchFileTest, LaunchIsPreferredToACallWithTheSameIdEvenFromAnotherRun) {
  small_.add(launch(0, 5, 1, false));
  for (std::uint64_t i = 0; i < 2'000; ++i) small_.add(launch(0, 10 + i, 2));
  small_.add(launch(0, 5, 3, true));
  small_.seal();
  EXPECT_EQ(small_.find(0, 5)->start_ns, 3);
}
TEST_F(LaunchFileTest, ManyOfOneIdSpanPages) {
  for (int i = 0; i < 3'000; ++i) small_.add(launch(0, 5, i, i == 2'500));
  small_.seal();
  EXPECT_EQ(small_.find(0, 5)->start_ns, 2'500);
}
TEST_F(LaunchFileTest, OperatorsByExternalId) {
  for (std::uint32_t i = 1; i < 3'000; ++i) small_.add(ExternalOperator{i, 0, {i}});
  small_.add(ExternalOperator{7, 0, {99'999}});  // too late
  small_.seal();
  EXPECT_EQ(small_.operator_of(0, 7).value, 7u);
  EXPECT_EQ(small_.operator_of(0, 2'999).value, 2'999u);
  EXPECT_EQ(small_.operator_of(0, 0).value, 0u);
  EXPECT_EQ(small_.operator_of(1, 7).value, 0u);
}
TEST_F(LaunchFileTest, NothingIsFoundInNothing) {
  small_.seal();
  EXPECT_EQ(small_.find(0, 1), nullptr);
  EXPECT_EQ(small_.find(0, 0), nullptr);
}
TEST(LaunchFile, AFolderThatCannotBeMadeIsAnError) {
  LaunchFile file("/proc/aaco/launches", 512);
  for (std::uint64_t i = 1; i < 2'000; ++i) file.add(launch(0, i, 1));
  file.seal();
  EXPECT_FALSE(file.status().has_value());
  EXPECT_EQ(file.find(0, 1), nullptr);
}

}  // namespace
}  // namespace aaco::workflows
