#include "workflows/compare/llm_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace aaco::workflows {
namespace {

using analytics::regression::MetricResult;
using stats::Verdict;
using testing::HasSubstr;
using testing::StartsWith;

MetricResult metric(const char* id, double before, double after, Verdict verdict) {
  MetricResult result{.id = id, .verdict = verdict};
  result.baseline = before;
  result.candidate = after;
  result.delta_ratio = after / before - 1;
  return result;
}
std::string cause(double ttft, Verdict of_ttft, double tpot, Verdict of_tpot) {
  const std::vector<MetricResult> metrics = {metric("llm.requests_per_second", 11, 10, Verdict::regression),
                                             metric("llm.ttft_p50_ns", 40e6, ttft, of_ttft),
                                             metric("llm.tpot_p50_ns", 10e6, tpot, of_tpot)};
  const auto found = llm_cause(metrics);
  return found ? found->cause : "none";
}

TEST(LlmCause, TheFirstTokenAlone) {
  EXPECT_EQ(
      cause(1090e6, Verdict::regression, 10e6, Verdict::equivalent),
      "the time before the first token changed and the time per token did not: TTFT 40.0 ms -> 1.09 s (27.2 times); requests "
      "wait longer in a queue, or their prompts take longer");
}
TEST(LlmCause, TheStepsAlone) {
  EXPECT_THAT(cause(40e6, Verdict::equivalent, 11e6, Verdict::regression),
              StartsWith("the steps after the first token changed and the time before it did not: TPOT 10.0 ms -> 11.0 ms (+10"));
}
TEST(LlmCause, Both) { EXPECT_THAT(cause(80e6, Verdict::regression, 20e6, Verdict::regression), HasSubstr("changed together")); }
TEST(LlmCause, OppositeOrUndecidedTellNothing) {
  EXPECT_EQ(cause(80e6, Verdict::regression, 8e6, Verdict::improvement), "none");
  EXPECT_EQ(cause(80e6, Verdict::regression, 11e6, Verdict::inconclusive), "none");
}
TEST(LlmCause, NothingChanged) {
  const std::vector<MetricResult> metrics = {metric("llm.ttft_p50_ns", 40e6, 40e6, Verdict::equivalent)};
  EXPECT_FALSE(llm_cause(metrics));
  EXPECT_FALSE(llm_cause({}));
}

}  // namespace
}  // namespace aaco::workflows
