#include "analytics/confidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::confidence {
namespace {

using ::testing::HasSubstr;

core::Result<Table> table(const std::string& classes) {
  aaco::testing::FakeMachine folder;
  folder.write("confidence.yaml", "schema: 1\nsource: judged\nclasses:\n" + classes);
  return Table::load(folder.root() + "/confidence.yaml");
}

TEST(Confidence, FromCountsOfJudgedCases) {
  EXPECT_DOUBLE_EQ(probability({9, 9}), 0.95);
  EXPECT_DOUBLE_EQ(probability({1, 3}), 0.375);
  EXPECT_DOUBLE_EQ(probability({0, 0}), 0.5) << "nothing was judged";
}
TEST(Confidence, NeverCertain) {
  EXPECT_LT(probability({1000, 1000}), 1);
  EXPECT_GT(probability({0, 1000}), 0);
}
TEST(Confidence, LooksUpByEvidence) {
  const auto known = table("  - {id: kernel.shapes_near, right: 9, cases: 9}\n");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_DOUBLE_EQ(*known->of("kernel.shapes_near"), 0.95);
  EXPECT_FALSE(known->of("kernel.guess"));
}
TEST(Confidence, FewCasesRestOnTheOthersOfTheirKind) {
  const auto known = table(
      "  - {id: gap.late.frame, right: 19, cases: 19}\n  - {id: gap.late.vague, right: 0, cases: 9}\n"
      "  - {id: gap.copy.frame, right: 0, cases: 0}\n  - {id: gap.wait.frame, right: 0, cases: 1}\n  - {id: gap.late, right: 1, "
      "cases: 1}\n"
      "  - {id: kernel.late.frame, right: 0, cases: 9}\n");
  ASSERT_TRUE(known) << known.error().message;
  const double others = probability({19, 20});
  EXPECT_DOUBLE_EQ(*known->of("gap.copy.frame"), others) << "none of its own";
  EXPECT_DOUBLE_EQ(*known->of("gap.unseen.frame"), others) << "not in the table";
  EXPECT_DOUBLE_EQ(*known->of("gap.wait.frame"), probability({19, 19}) / 2) << "one of its own";
  EXPECT_DOUBLE_EQ(*known->of("gap.late"), 0.75) << "alone in its kind";
  EXPECT_LT(*known->of("gap.late.frame"), 1);
  EXPECT_FALSE(known->of("gap.late.sure"));
}
TEST(Confidence, ShippedTableLoads) {
  const auto shipped = Table::load(AACO_SOURCE_DIR "/data/rules/confidence.yaml");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_TRUE(shipped->of("kernel.counters_near"));
}
TEST(Confidence, RefusesInvalidTables) {
  EXPECT_THAT(table("  - {id: a, right: 2, cases: 1}\n").error().message, HasSubstr("between 0 and cases"));
  EXPECT_FALSE(table("  - {id: a, right: -1, cases: 1}\n"));
  EXPECT_THAT(table("  - {id: a, right: 1, cases: 1}\n  - {id: a, right: 1, cases: 1}\n").error().message,
              HasSubstr("duplicate"));
  EXPECT_FALSE(table("  - {id: a, right: 1, cases: 1, weight: 3}\n"));
  EXPECT_FALSE(table("  - {right: 1, cases: 1}\n"));
  EXPECT_FALSE(Table::load("/nonexistent/confidence.yaml"));
}

}  // namespace
}  // namespace aaco::analytics::confidence
