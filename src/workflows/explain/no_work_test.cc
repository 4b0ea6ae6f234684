#include "workflows/explain/no_work.h"

#include <gtest/gtest.h>

#include <string>

namespace aaco::workflows {
namespace {

using core::Json;

std::string cause(Json rows, Json totals = {}, const char* kind = "import") {
  trace::SessionManifest manifest;
  manifest.kind = kind;
  manifest.outcome.rows = std::move(rows);
  manifest.outcome.totals = std::move(totals);
  return std::string(nothing_to_judge(manifest)["cause"]["id"].text());
}

TEST(NothingToJudge, SaysWhatTheFilesContain) {
  EXPECT_EQ(cause(Json::object({{"calls", 8}})), "host-calls-only");
  EXPECT_EQ(cause(Json::object({{"counters", 8}})), "counter-pass");
  EXPECT_EQ(cause(Json::object({{"graph_nodes", 24}})), "no-times");
  EXPECT_EQ(cause(Json::object({{"samples", 3}})), "no-workload");
  EXPECT_EQ(cause(Json::object(), Json::object({{"kernel_names", 4}})), "statistics");
  EXPECT_EQ(cause(Json::object(), Json::object({{"call_names", 4}})), "statistics");
  EXPECT_EQ(cause(Json::object(), Json::object({{"samples", 79}})), "sampled");
}
TEST(NothingToJudge, StepsWithNothingInThem) {
  EXPECT_EQ(cause(Json::object({{"iterations", 2}})), "empty-region");
  EXPECT_EQ(cause(Json::object({{"iterations", 2}, {"samples", 9}})), "");
  EXPECT_EQ(cause(Json::object({{"iterations", 2}, {"calls", 9}})), "");
  EXPECT_EQ(cause(Json::object({{"iterations", 2}, {"kernels", 9}})), "");
  trace::SessionManifest manifest;
  manifest.kind = "import";
  manifest.outcome.rows = Json::object({{"iterations", 1}, {"calls", 2}});
  CallKinds calls;
  calls.add("annotation");
  EXPECT_EQ(nothing_to_judge(manifest, calls)["cause"]["id"].text(), "empty-region");
  calls.add("cpu_op");
  EXPECT_TRUE(nothing_to_judge(manifest, calls).is_null());
}
std::string cause_of_calls(std::initializer_list<const char*> domains) {
  trace::SessionManifest manifest;
  manifest.kind = "import";
  manifest.outcome.rows = Json::object({{"calls", static_cast<std::int64_t>(domains.size())}});
  CallKinds calls;
  for (const char* domain : domains) calls.add(domain);
  return std::string(nothing_to_judge(manifest, calls)["cause"]["id"].text());
}
TEST(NothingToJudge, NamesCallsOfOneKind) {
  EXPECT_EQ(cause_of_calls({"scratch_memory", "memory_allocation"}), "allocations-only");
  EXPECT_EQ(cause_of_calls({"marker", "marker"}), "markers-only");
  EXPECT_EQ(cause_of_calls({"marker", "hip"}), "host-calls-only");
  EXPECT_EQ(cause_of_calls({"scratch_memory", "hsa"}), "host-calls-only");
}
TEST(NothingToJudge, SessionsWithWorkAreJudgedElsewhere) {
  EXPECT_EQ(cause(Json::object({{"kernels", 1}, {"calls", 3}})), "");
  EXPECT_EQ(cause(Json::object({{"copies", 1}})), "");
  EXPECT_EQ(cause(Json::object({{"node_executions", 1}, {"graph_nodes", 5}})), "");
  EXPECT_EQ(cause(Json::object()), "") << "empty";
  EXPECT_EQ(cause(Json::object({{"calls", 8}}), {}, "run"), "");
}

}  // namespace
}  // namespace aaco::workflows
