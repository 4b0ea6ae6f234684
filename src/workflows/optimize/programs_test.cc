#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/optimize/artifacts.h"
#include "workflows/optimize/winner.h"

namespace aaco::workflows {
namespace {

using core::Json;
using ::testing::HasSubstr;
using ::testing::Not;

Deployment deployment() {
  Deployment made;
  made.model_path = "model.onnx";
  made.provider = "CPUExecutionProvider";
  made.configuration.threads = 2;
  made.configuration.graph_level = "basic";
  made.configuration.session_options = {{"execution_mode", "parallel"},
                                        {"inter_op_threads", "3"},
                                        {"memory_arena", "off"},
                                        {"pinning", "on"},
                                        {"session.intra_op.allow_spinning", "0"}};
  made.affinities = "2";
  Json input = Json::object({{"name", "x \"y\""}, {"type", "float32"}, {"shape", Json::array({Json(1), Json(4)})}});
  made.inputs = Json::array({std::move(input)});
  return made;
}

std::string pattern(const std::string& name) {
  return core::read_file(std::string(AACO_SOURCE_DIR) + "/data/optimize/" + name).value_or("");
}

TEST(Programs, PythonHasEveryOption) {
  const std::string text = python_program(deployment(), pattern("run.py.in"));
  for (const char* line :
       {"intra_op_num_threads = 2", "inter_op_num_threads = 3", "ORT_PARALLEL", "ORT_ENABLE_BASIC",
        "enable_cpu_mem_arena = False", "enable_mem_pattern = True", "\"session.intra_op.allow_spinning\", \"0\"",
        "\"session.intra_op_thread_affinities\", \"2\"", "feed[\"x \\\"y\\\"\"] = random.random([1, 4]).astype(np.float32)"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("\"pinning\"")));
}
TEST(Programs, CppHasEveryOption) {
  const std::string text = cpp_program(deployment(), pattern("run.cc.in"));
  for (const char* line :
       {"SetIntraOpNumThreads(options, 2)", "SetInterOpNumThreads(options, 3)", "ORT_PARALLEL", "ORT_ENABLE_BASIC",
        "DisableCpuMemArena", "\"session.intra_op.allow_spinning\", \"0\"", "ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 4, {1, 4}"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("DisableMemPattern")));
}
TEST(Programs, NoMarkIsLeft) {
  EXPECT_THAT(python_program(deployment(), pattern("run.py.in")), Not(HasSubstr("@")));
  EXPECT_THAT(cpp_program(deployment(), pattern("run.cc.in")), Not(HasSubstr("@")));
}
TEST(Programs, DefaultsSetNothing) {
  Deployment plain;
  plain.provider = "CPUExecutionProvider";
  EXPECT_THAT(cpp_program(plain, pattern("run.cc.in")), Not(HasSubstr("SetIntraOpNumThreads")));
  EXPECT_THAT(python_program(plain, pattern("run.py.in")), Not(HasSubstr("add_session_config_entry")));
}

TEST(SetAside, OnlyFilesOfAnEarlierClaimAreMoved) {
  const std::string folder = testing::TempDir() + "aaco_set_aside";
  (void)core::remove_tree(folder);
  ASSERT_TRUE(core::make_directories(folder));
  const auto file = [&](const std::string& name) { return core::join_path(folder, name); };
  ASSERT_TRUE(core::write_file_atomic(file("best.yaml"), "threads: 1\n"));
  ASSERT_TRUE(set_aside(folder));
  EXPECT_TRUE(core::exists(file("best.yaml"))) << "nobody claimed a gain here: it is somebody's own";
  ASSERT_TRUE(core::write_file_atomic(file("result.json"), R"({"proven": true})"));
  ASSERT_TRUE(set_aside(folder));
  EXPECT_FALSE(core::exists(file("best.yaml")));
  EXPECT_EQ(core::read_file(file("earlier/best.yaml")).value_or(""), "threads: 1\n");
  (void)core::remove_tree(folder);
}

}  // namespace
}  // namespace aaco::workflows
