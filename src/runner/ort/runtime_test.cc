#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "core/files.h"
#include "runner/ort/placement.h"
#include "runner/ort_runtime.h"
#include "runner/zoo.h"

namespace aaco::runner::ort {
namespace {

LibrarySearch search() {
  LibrarySearch out;
  out.environment = core::Environment::of_process();
  out.paths = core::Paths::find(out.environment, core::executable_path());
  return out;
}

std::shared_ptr<Runtime> runtime() {
  static const auto opened = Runtime::open(search());
  return opened ? *opened : nullptr;
}

BackendOptions cpu() {
  BackendOptions options;
  options.provider = "CPUExecutionProvider";
  options.intra_op_threads = 1;
  return options;
}

// A small made model's path.
std::string mlp(const std::string& folder) {
  const auto entry = zoo::find("mlp");
  EXPECT_TRUE(entry) << entry.error().text();
  const auto path = zoo::make(**entry, {}, 1, folder);
  EXPECT_TRUE(path) << path.error().text();
  return *path;
}

std::vector<TensorData> ones_for(const Backend& backend, std::int64_t batch) {
  std::vector<TensorData> data;
  for (const TensorInfo& info : backend.inputs()) {
    TensorData tensor{info.name, info.type, info.shape, {}};
    std::int64_t count = 1;
    for (auto& size : tensor.shape) {
      if (size < 0) size = batch;
      count *= size;
    }
    std::vector<float> values(static_cast<std::size_t>(count), 1.0F);
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    data.push_back(std::move(tensor));
  }
  return data;
}

class OrtRuntime : public testing::Test {
 protected:
  void SetUp() override {
    if (!runtime()) GTEST_SKIP() << "no ONNX Runtime library on this machine";
    folder_ = core::TemporaryDirectory::make(testing::TempDir(), "ort").value().release();
  }
  void TearDown() override {
    if (!folder_.empty()) (void)core::remove_tree(folder_);
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = core::join_path(folder_, name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string folder_;
};

TEST_F(OrtRuntime, RunsAModelAndReportsPlacement) {
  auto backend = runtime()->open_model(mlp(folder_), cpu());
  ASSERT_TRUE(backend) << backend.error().text();
  ASSERT_TRUE((*backend)->bind(ones_for(**backend, 2)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*backend)->run_once());
  const auto outputs = (*backend)->read_outputs();
  ASSERT_TRUE(outputs) << outputs.error().text();
  ASSERT_EQ(outputs->size(), (*backend)->outputs().size());
  EXPECT_EQ(outputs->front().shape.front(), 2);
  float first = 0;
  std::memcpy(&first, outputs->front().bytes.data(), sizeof first);
  EXPECT_TRUE(std::isfinite(first));
  const core::Json placement = (*backend)->describe()["nodes_by_provider"];
  EXPECT_GT(placement["CPUExecutionProvider"].as_i64().value_or(0), 0);
}

TEST_F(OrtRuntime, NamesTheBuildOfTheLibrary) {
  const auto backend = runtime()->open_model(mlp(folder_), cpu());
  ASSERT_TRUE(backend);
  const std::string build((*backend)->describe()["build"].text());
  EXPECT_EQ(build.size(), 16U);
  EXPECT_EQ(build.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(OrtRuntime, TheSameInputGivesTheSameOutputWhenOutputsAreKept) {
  auto backend = runtime()->open_model(mlp(folder_), cpu());
  ASSERT_TRUE(backend);
  ASSERT_TRUE((*backend)->bind(ones_for(**backend, 1)));
  ASSERT_TRUE((*backend)->run_once());
  const auto first = (*backend)->read_outputs();
  ASSERT_TRUE((*backend)->run_once());
  const auto second = (*backend)->read_outputs();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->front().bytes, second->front().bytes);
}

TEST_F(OrtRuntime, ProfilesToAFileWithItsStart) {
  BackendOptions options = cpu();
  options.profile = true;
  options.profile_prefix = core::join_path(folder_, "profile");
  auto backend = runtime()->open_model(mlp(folder_), options);
  ASSERT_TRUE(backend);
  ASSERT_TRUE((*backend)->bind(ones_for(**backend, 1)));
  ASSERT_TRUE((*backend)->run_once());
  const auto profile = (*backend)->end_profile();
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_TRUE(core::exists(profile->path));
  EXPECT_GT(profile->start_realtime_ns, 1'600'000'000'000'000'000);
}

TEST_F(OrtRuntime, RefusesToProfileWithoutProfilingEnabled) {
  auto backend = runtime()->open_model(mlp(folder_), cpu());
  ASSERT_TRUE(backend);
  EXPECT_FALSE((*backend)->end_profile());
}

TEST_F(OrtRuntime, ListsAvailableProvidersIfOneIsMissing) {
  BackendOptions options = cpu();
  options.backend = "migraphx";
  options.provider = "MIGraphXExecutionProvider";
  const auto backend = runtime()->open_model(mlp(folder_), options);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, core::ErrorCode::unsupported);
  EXPECT_NE(backend.error().message.find("CPUExecutionProvider"), std::string::npos);
  EXPECT_NE(backend.error().remedy.find("--ort-lib"), std::string::npos);
}

TEST_F(OrtRuntime, FallsBackOnlyWhenAllowed) {
  BackendOptions options = cpu();
  options.provider = "MIGraphXExecutionProvider";
  options.allow_fallback = true;
  const auto backend = runtime()->open_model(mlp(folder_), options);
  ASSERT_TRUE(backend) << backend.error().text();
  EXPECT_FALSE((*backend)->describe()["nodes_by_provider"].contains("MIGraphXExecutionProvider"));
}

TEST_F(OrtRuntime, RefusesAMissingFile) {
  const auto backend = runtime()->open_model(core::join_path(folder_, "absent.onnx"), cpu());
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, core::ErrorCode::not_found);
}

TEST_F(OrtRuntime, RefusesATruncatedModel) {
  const std::string whole = core::read_file(mlp(folder_)).value();
  EXPECT_FALSE(runtime()->open_model(write("cut.onnx", whole.substr(0, whole.size() / 2)), cpu()));
}

TEST_F(OrtRuntime, RefusesNonModels) { EXPECT_FALSE(runtime()->open_model(write("text.onnx", "this is no model"), cpu())); }

TEST_F(OrtRuntime, RefusesAnInputOfTheWrongShape) {
  auto backend = runtime()->open_model(mlp(folder_), cpu());
  ASSERT_TRUE(backend);
  auto inputs = ones_for(**backend, 1);
  inputs.front().shape.back() += 1;
  inputs.front().bytes.resize(inputs.front().bytes.size() + sizeof(float));
  const auto bound = (*backend)->bind(inputs);
  EXPECT_FALSE(bound && (*backend)->run_once());
}

TEST(OrtLibrary, RefusesForeignLibrary) {
  LibrarySearch wrong = search();
  wrong.named = "libz.so.1";
  const auto opened = Runtime::open(wrong);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, core::ErrorCode::unsupported);
  EXPECT_NE(opened.error().text().find("OrtGetApiBase"), std::string::npos);
}

TEST(OrtLibrary, DoesNotSubstituteMissingNamedLibrary) {
  LibrarySearch wrong = search();
  wrong.environment.set("AACO_ORT_LIBRARY", "/nonexistent/libonnxruntime.so");
  EXPECT_FALSE(Runtime::open(wrong));
}

TEST(Placement, ReadsBothFormsOfTheSentence) {
  const auto one = placement_from_log({{0, " All nodes placed on [CPUExecutionProvider]. Number of nodes: 53"}});
  EXPECT_EQ(one.at("CPUExecutionProvider"), 53);
  const auto two = placement_from_log(
      {{0, "Node(s) placed on [A]. Number of nodes: 2\n  MatMul (m)\nNode(s) placed on [B]. Number of nodes: 3"}});
  EXPECT_EQ(two.at("A"), 2);
  EXPECT_EQ(two.at("B"), 3);
}

TEST(Placement, NamesTheNodesOfEachProvider) {
  const auto nodes = placed_nodes_from_log({{0, " Node(s) placed on [A]. Number of nodes: 1"},
                                            {0, "   Conv (stem/conv (1))"},
                                            {0, " Node(s) placed on [B]. Number of nodes: 2"},
                                            {0, "   Softmax ()"},
                                            {0, "   HardSigmoid (h)"},
                                            {0, "Some nodes were not assigned (to the preferred one)"},
                                            {0, "   Relu (later)"}});
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].provider + nodes[0].op_type + nodes[0].name, "AConvstem/conv (1)");
  EXPECT_EQ(nodes[1].provider + nodes[1].op_type + nodes[1].name, "BSoftmax");
  EXPECT_EQ(nodes[2].name, "h");
}

TEST(Placement, EmptyWithoutLogLines) {
  EXPECT_TRUE(placement_from_log(
                  {{0, "Number of nodes: 53"}, {0, "nodes placed on [x"}, {2, "Number of nodes: many nodes placed on [x]"}})
                  .empty());
}

}  // namespace
}  // namespace aaco::runner::ort
