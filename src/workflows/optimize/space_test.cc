#include "workflows/optimize/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kShipped = std::string(AACO_SOURCE_DIR) + "/data/optimize/space.yaml";

class SpaceFile : public ::testing::Test {
 protected:
  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make("/tmp");
  core::Result<Space> load(const std::string& axes, SpaceContext context = {"latency", 4, false}) {
    const std::string path = core::join_path(folder_.path(), "space.yaml");
    EXPECT_TRUE(core::write_file_atomic(path, "schema_version: 1\naxes:\n" + axes));
    return load_space(path, context);
  }
  std::string refusal(const std::string& axes) {
    const auto space = load(axes);
    return space ? "" : space.error().text();
  }
};

TEST_F(SpaceFile, ShippedOneLoads) {
  const auto space = load_space(kShipped, {"latency", 4, true});
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_GE(space->candidates().size(), 96U);
  for (const auto& one : space->candidates()) EXPECT_TRUE(space->apply(one, {})) << space->name(one);
}
TEST_F(SpaceFile, NumbersAreOfThisMachine) {
  const auto space = *load("  - {id: threads, key: threads, values: [1, half, cpus]}");
  EXPECT_EQ(space.axes[0].values.size(), 4U);
  EXPECT_EQ(space.name({3}), "threads=4");
  EXPECT_EQ(space.apply({2}, {})->threads, 2);
}
TEST_F(SpaceFile, EqualValuesAreOne) {
  EXPECT_EQ(load("  - {id: threads, key: threads, values: [1, half, cpus]}", {"latency", 1, false})->axes[0].values.size(), 2U);
}
TEST_F(SpaceFile, WhatTheBaselineHasIsNotSearched) {
  auto space = *load(
      "  - {id: threads, key: threads, values: [1, 2]}\n  - {id: level, key: graph_level, values: [all]}\n"
      "  - {id: graph, key: rewrite, values: [clean]}");
  RunRequest base;
  base.threads = 1;
  ASSERT_TRUE(drop_unchanged(space, base));
  ASSERT_EQ(space.axes[0].values.size(), 2U);
  EXPECT_EQ(space.axes[0].values[1].id, "2");
  EXPECT_EQ(space.axes[1].values.size(), 1U);
  EXPECT_THAT(space.axes[1].reason_absent, HasSubstr("baseline has this value"));
  EXPECT_EQ(space.axes[2].values.size(), 2U);
}
TEST_F(SpaceFile, BatchIsOfThroughputAndNeedsAFreeDimension) {
  const std::string axis = "  - {id: batch, for: throughput, key: batch, values: [2, 4]}";
  EXPECT_THAT(load(axis)->axes[0].reason_absent, HasSubstr("--for throughput"));
  EXPECT_THAT(load(axis, {"throughput", 4, false})->axes[0].reason_absent, HasSubstr("fixed batch"));
  EXPECT_EQ(load(axis, {"throughput", 4, true})->axes[0].values.size(), 3U);
}
TEST_F(SpaceFile, ConflictsAreNotCandidates) {
  const auto space = *load(
      "  - {id: threads, key: threads, values: [1, 2]}\n"
      "  - {id: pinning, key: session_options.pinning, values: [\"on\"], unless: [threads=baseline, threads=1]}");
  const auto all = space.candidates();
  EXPECT_EQ(all.size(), 3U);
  EXPECT_THAT(all, Contains(analytics::configsearch::Configuration({2, 1})));
}
TEST_F(SpaceFile, FixedAxisCountsForConflicts) {
  auto space = *load(
      "  - {id: threads, key: threads, values: [1, 2]}\n"
      "  - {id: pinning, key: session_options.pinning, values: [\"on\"], unless: [threads=baseline]}");
  RunRequest base;
  ASSERT_TRUE(fix_axis(space, "threads", "2", base));
  EXPECT_EQ(base.threads, 2);
  EXPECT_EQ(space.candidates().size(), 1U);
}
TEST_F(SpaceFile, UnknownAxisOrValueCannotBeFixed) {
  auto space = *load("  - {id: threads, key: threads, values: [1]}");
  RunRequest base;
  EXPECT_THAT(fix_axis(space, "wings", "2", base).error().text(), HasSubstr("axes: threads"));
  EXPECT_THAT(fix_axis(space, "threads", "9", base).error().text(), HasSubstr("baseline, 1"));
}
TEST_F(SpaceFile, WrongFilesAreRefused) {
  EXPECT_THAT(refusal("  - {id: a, key: thread, values: [1]}"), HasSubstr("unknown key 'thread'"));
  EXPECT_THAT(refusal("  - {id: a, key: threads, values: [none]}"), HasSubstr("expected a count"));
  EXPECT_THAT(refusal("  - {id: a, values: [1]}"), HasSubstr("'key'"));
  EXPECT_THAT(refusal("  - {id: a, key: threads, values: 1}"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal("  - {id: a, key: threads, values: [{id: baseline, set: {threads: 1}}]}"), HasSubstr("'baseline'"));
  EXPECT_THAT(refusal("  - {id: a, key: threads, values: [1]}\n  - {id: a, key: batch, values: [1]}"),
              HasSubstr("more than once"));
  EXPECT_THAT(refusal("  - {id: a, color: red, key: threads, values: [1]}"), HasSubstr("color"));
}

}  // namespace
}  // namespace aaco::workflows
