#include "workflows/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;

class RunConfig : public ::testing::Test {
 protected:
  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make("/tmp");
  std::string write(const std::string& text) {
    const std::string path = core::join_path(folder_.path(), "best.yaml");
    EXPECT_TRUE(core::write_file_atomic(path, text));
    return path;
  }
  std::string refusal(const std::string& text) {
    RunRequest request;
    const auto read = read_run_config(write(text), request);
    return read ? "" : read.error().text();
  }
};

TEST_F(RunConfig, IsReadBackAsWritten) {
  RunRequest wanted;
  wanted.model = "/models/a \"b\".onnx";
  wanted.batch = 4;
  wanted.threads = 2;
  wanted.graph_level = "basic";
  wanted.seed = 7;
  wanted.dimensions["seq len"] = 128;
  wanted.shapes["x"] = {1, 3, 4};
  wanted.session_options["session.intra_op.allow_spinning"] = "0";
  wanted.session_options["memory_arena"] = "off";
  wanted.provider_options["device"] = "1";
  RunRequest read;
  ASSERT_TRUE(read_run_config(write(run_config_text(wanted)), read));
  EXPECT_EQ(run_config_text(read), run_config_text(wanted));
  EXPECT_EQ(read.session_options, wanted.session_options);
  EXPECT_EQ(read.shapes, wanted.shapes);
}
TEST_F(RunConfig, ModelBesideTheFileIsFound) {
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_.path(), "model.onnx"), "x"));
  RunRequest read;
  ASSERT_TRUE(read_run_config(write("model: model.onnx\n"), read));
  EXPECT_EQ(read.model, core::join_path(folder_.path(), "model.onnx"));
}
TEST_F(RunConfig, ModelNameStaysAName) {
  RunRequest read;
  ASSERT_TRUE(read_run_config(write("model: resnet50\n"), read));
  EXPECT_EQ(read.model, "resnet50");
}
TEST_F(RunConfig, UnknownKeyIsRefusedWithItsLine) { EXPECT_THAT(refusal("model: a\nthread: 2\n"), HasSubstr("thread")); }
TEST_F(RunConfig, CountsStartAtOne) {
  for (const char* text : {"threads: 0", "threads: -1", "threads: many", "batch: 0", "dimensions: {n: 0}"})
    EXPECT_THAT(refusal(text), HasSubstr("expected a count")) << text;
}
TEST_F(RunConfig, LevelIsKnown) { EXPECT_THAT(refusal("graph_level: most"), HasSubstr("graph_level")); }
TEST_F(RunConfig, ShapesAreNumbers) { EXPECT_THAT(refusal("shapes: {x: 1xax2}"), HasSubstr("1x3x224x224")); }
TEST_F(RunConfig, ListIsRefused) { EXPECT_THAT(refusal("- model"), HasSubstr("mapping")); }
TEST_F(RunConfig, GroupMustBeAMapping) { EXPECT_THAT(refusal("session_options: 3"), HasSubstr("session_options")); }

}  // namespace
}  // namespace aaco::workflows
