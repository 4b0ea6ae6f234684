#include "trace/outcome.h"

#include <gtest/gtest.h>

namespace aaco::trace {
namespace {

using core::Json;

Outcome read(const char* text) { return outcome_from_json(*Json::parse(text)); }
std::string written(const Outcome& outcome) { return to_json(outcome).dump(-1); }

TEST(Outcome, OfARunComesBackAsWritten) {
  const char* text =
      R"({"model":"mlp","backend":"cpu","provider":"CPUExecutionProvider","batch":4,"threads":2,"graph_level":"all",)"
      R"("inputs":[{"name":"x"}],"warmup_iterations":7,"warmup_ended":"stationary","warmup_stationary":true,"iterations":100,)"
      R"("measuring_ended":"time","noise":{"dropped":true},"work":{"flops":1.5,"bytes":2.5,"node_count":3.5,"weight_bytes":9},)"
      R"("p50_ns":12.5})";
  const Outcome outcome = read(text);
  EXPECT_EQ(written(outcome), text);
  EXPECT_EQ(outcome.model, "mlp");
  EXPECT_EQ(outcome.batch, 4);
  EXPECT_EQ(outcome.warmup_stationary, true);
  ASSERT_TRUE(outcome.work);
  EXPECT_EQ(outcome.work->flops, 1.5);
  EXPECT_EQ(outcome.work->rest["weight_bytes"].as_i64(), 9);
  EXPECT_TRUE(outcome.rest.is_null());
}

TEST(Outcome, EmptyMembersAreLeftOut) { EXPECT_EQ(written(Outcome()), "{}"); }
TEST(Outcome, OfNoDocumentIsEmpty) { EXPECT_EQ(written(outcome_from_json(Json())), "{}"); }
TEST(Outcome, OfAListIsEmpty) { EXPECT_EQ(written(read("[1, 2]")), "{}"); }
TEST(Outcome, UnknownMembersAreKept) {
  EXPECT_EQ(written(read(R"({"model":"m","later":{"a":1}})")), R"({"model":"m","later":{"a":1}})");
}

TEST(Outcome, MembersOfAnotherTypeAreKeptAndNotTaken) {
  const Outcome outcome = read(R"({"batch":"four","model":7,"work":3})");
  EXPECT_FALSE(outcome.batch);
  EXPECT_EQ(outcome.model, "");
  EXPECT_FALSE(outcome.work);
  EXPECT_EQ(written(outcome), R"({"batch":"four","model":7,"work":3})");
}

TEST(Outcome, FalseAndZeroAreNotEmpty) {
  EXPECT_EQ(written(read(R"({"exit_code":0,"ab_together":false})")), R"({"exit_code":0,"ab_together":false})");
}

TEST(Outcome, TextByKey) {
  const Outcome outcome = read(R"({"model":"m","backend":"b","provider":"p"})");
  EXPECT_EQ(outcome.text("model") + outcome.text("backend") + outcome.text("provider"), "mbp");
  EXPECT_EQ(outcome.text("batch"), "");
}

}  // namespace
}  // namespace aaco::trace
