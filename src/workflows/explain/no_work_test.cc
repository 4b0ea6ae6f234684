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
TEST(NothingToJudge, SessionsWithWorkAreJudgedElsewhere) {
  EXPECT_EQ(cause(Json::object({{"kernels", 1}, {"calls", 3}})), "");
  EXPECT_EQ(cause(Json::object({{"copies", 1}})), "");
  EXPECT_EQ(cause(Json::object({{"node_executions", 1}, {"graph_nodes", 5}})), "");
  EXPECT_EQ(cause(Json::object()), "") << "empty";
  EXPECT_EQ(cause(Json::object({{"calls", 8}}), {}, "run"), "");
}

}  // namespace
}  // namespace aaco::workflows
