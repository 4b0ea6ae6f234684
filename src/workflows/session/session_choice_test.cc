#include "workflows/session_choice.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

trace::SessionManifest session(const char* kind, const char* tag, const char* model) {
  trace::SessionManifest manifest;
  manifest.kind = kind;
  manifest.tag = tag;
  manifest.fingerprint = "f1";
  manifest.outcome = trace::outcome_from_json(core::Json::object({{"model", model}, {"backend", "cpu"}}));
  return manifest;
}

TEST(SessionChoice, EveryConditionMustHold) {
  const auto run = session("run", "nightly", "resnet50");
  EXPECT_TRUE(is_meant(run, {}));
  EXPECT_TRUE(is_meant(run, {{"kind", "run"}, {"tag", "nightly"}, {"model", "resnet50"}, {"backend", "cpu"}}));
  EXPECT_FALSE(is_meant(run, {{"kind", "run"}, {"model", "bert"}}));
  EXPECT_FALSE(is_meant(run, {{"fingerprint", "f2"}}));
}

TEST(SessionChoice, OnlyKnownKeys) {
  EXPECT_TRUE(check_where({{"model", "x"}, {"backend", "x"}, {"kind", "x"}, {"tag", "x"}, {"fingerprint", "x"}}));
  EXPECT_FALSE(check_where({{"host", "x"}}));
  EXPECT_FALSE(check_where({{"", "x"}}));
}

TEST(SessionChoice, ImportsMeasureTheSameThingOnlyUnderOneTag) {
  EXPECT_EQ(same_thing(session("run", "a", "m")), same_thing(session("run", "b", "m")));
  EXPECT_NE(same_thing(session("import", "a", "m")), same_thing(session("import", "b", "m")));
  EXPECT_NE(same_thing(session("run", "a", "m")), same_thing(session("import", "a", "m")));
  auto other = session("run", "a", "m");
  other.fingerprint = "f2";
  EXPECT_NE(same_thing(session("run", "a", "m")), same_thing(other));
}

}  // namespace
}  // namespace aaco::workflows
