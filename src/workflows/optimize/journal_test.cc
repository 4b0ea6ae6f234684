#include "workflows/optimize/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;

class JournalFile : public ::testing::Test {
 protected:
  core::TemporaryDirectory parent_ = *core::TemporaryDirectory::make("/tmp");
  std::string folder_ = core::join_path(parent_.path(), "search");
  std::string file_ = core::join_path(folder_, "journal.jsonl");
  Json subject_ = Json::object({{"model", "a"}, {"tolerance", 0.001}, {"slo", Json()}});

  static Trial trial(std::size_t value, double effect) {
    Trial one;
    one.configuration = {value, 0};
    one.values = {{"threads", std::to_string(value)}};
    one.log_effects = {effect};
    one.median_ns = 1000;
    one.agreement = analytics::agreement::Agreement{};
    return one;
  }
};

TEST_F(JournalFile, IsReadBackByTheNextSearch) {
  {
    auto journal = *Journal::open(folder_, subject_);
    ASSERT_TRUE(journal.add(trial(1, -0.1)));
    ASSERT_TRUE(journal.add(trial(2, 0.1)));
    ASSERT_TRUE(journal.add(trial(1, -0.2)));  // a later state of the same configuration
  }
  const auto journal = *Journal::open(folder_, subject_);
  ASSERT_EQ(journal.earlier().size(), 2U);
  EXPECT_EQ(journal.earlier()[0].log_effects, std::vector<double>{-0.2});
  EXPECT_EQ(to_json(journal.earlier()[1]), to_json(trial(2, 0.1)));
}
TEST_F(JournalFile, TornLastLineIsIgnoredAndRemoved) {
  {
    auto journal = *Journal::open(folder_, subject_);
    ASSERT_TRUE(journal.add(trial(1, -0.1)));
  }
  const std::string whole = *core::read_file(file_);
  ASSERT_TRUE(core::write_file_atomic(file_, whole + "{\"configuration\": [1"));
  EXPECT_EQ(Journal::open(folder_, subject_)->earlier().size(), 1U);
  EXPECT_EQ(*core::read_file(file_), whole);
}
TEST_F(JournalFile, AnotherSubjectIsRefused) {
  { ASSERT_TRUE(Journal::open(folder_, subject_)->add(trial(1, -0.1))); }
  const auto other = Journal::open(folder_, Json::object({{"model", "b"}}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, core::ErrorCode::conflict);
}
TEST_F(JournalFile, AnotherSubjectWithoutTrialsIsReplaced) {
  ASSERT_TRUE(Journal::open(folder_, Json::object({{"model", "b"}})));
  { ASSERT_TRUE(Journal::open(folder_, subject_)->add(trial(1, -0.1))); }
  EXPECT_EQ(Journal::open(folder_, subject_)->earlier().size(), 1U);
}
TEST_F(JournalFile, TrialWithoutConfigurationIsRefused) {
  ASSERT_TRUE(Journal::open(folder_, subject_));
  ASSERT_TRUE(core::write_file_atomic(file_, *core::read_file(file_) + "{\"outcome\": \"ok\"}\n"));
  EXPECT_EQ(Journal::open(folder_, subject_).error().code, core::ErrorCode::invalid_input);
}
TEST_F(JournalFile, FolderBelowAFileIsRefused) {
  ASSERT_TRUE(core::write_file_atomic(folder_, "a file"));
  EXPECT_FALSE(Journal::open(core::join_path(folder_, "below"), subject_));
}

}  // namespace
}  // namespace aaco::workflows
