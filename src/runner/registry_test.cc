#include "runner/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "graph/graph.h"
#include "runner/zoo.h"
#include "tests/support/source_dir.h"

namespace aaco::runner {
namespace {

using testing::HasSubstr;

// A program's share/ and a user's config/ of the test's own.
class RegistryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir());
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    paths_.share = core::join_path(folder_->path(), "share");
    paths_.config = core::join_path(folder_->path(), "config");
    ASSERT_TRUE(core::make_directories(core::join_path(paths_.share, "configs")));
    ASSERT_TRUE(core::make_directories(paths_.config));
    ship("models.yaml", "net:\n  path: zoo:mlp\n  dtype: float32\n  warmup: 5\n");
    ship("backends.yaml", "cpu:\n  provider: CPUExecutionProvider\n");
  }
  void ship(const std::string& file, const std::string& text) {
    ASSERT_TRUE(core::write_file_atomic(core::join_path(paths_.share, "configs/" + file), text));
  }
  void user(const std::string& file, const std::string& text) {
    ASSERT_TRUE(core::write_file_atomic(core::join_path(paths_.config, file), text));
  }
  // Why the files, or the first invalid entry, cannot be used.
  std::string refusal() {
    const auto loaded = Registry::load(paths_);
    if (!loaded) return loaded.error().text();
    for (const auto& [name, model] : loaded->models())
      if (const auto asked = loaded->model(name); !asked) return asked.error().text();
    for (const auto& [name, backend] : loaded->backends())
      if (const auto asked = loaded->backend(name); !asked) return asked.error().text();
    return "";
  }
  Registry loaded() {
    auto registry = Registry::load(paths_);
    EXPECT_TRUE(registry) << registry.error().text();
    return std::move(*registry);
  }
  std::string backend_refusal(const std::string& keys) {
    ship("backends.yaml", "here:\n  provider: " + keys);
    const auto options = backend_options(*loaded().backend("here"));
    return options ? "" : options.error().text();
  }
  std::optional<core::TemporaryDirectory> folder_;
  core::Paths paths_;
};

core::Paths shipped() {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  paths.config = "/nonexistent";
  return paths;
}

TEST(ShippedRegistry, EveryZooModelExistsAndBuilds) {
  const auto registry = Registry::load(shipped());
  ASSERT_TRUE(registry) << registry.error().text();
  for (const auto& [name, model] : registry->models()) {
    ASSERT_TRUE(model.from_zoo()) << name;
    const auto request = zoo::parse_request(model.zoo_request());
    ASSERT_TRUE(request) << name << ": " << request.error().text();
    EXPECT_TRUE(zoo::build_graph(*request->entry, request->config)) << name;
  }
}

TEST(ShippedRegistry, HasAllBackends) {
  const auto registry = Registry::load(shipped());
  ASSERT_TRUE(registry) << registry.error().text();
  for (const char* name : {"cpu", "migraphx", "rocm", "cuda", "tensorrt", "webgpu", "xnnpack", "openvino", "dnnl"})
    EXPECT_TRUE(backend_options(registry->backend(name).value())) << name;
}

TEST_F(RegistryTest, UserFileOverridesPerKey) {
  user("models.yaml", "net:\n  warmup: 7\nmine:\n  path: m.onnx\n");
  const Registry registry = loaded();
  EXPECT_EQ(registry.model("net")->warmup, 7);
  EXPECT_EQ(registry.model("net")->path, "zoo:mlp");
  EXPECT_EQ(registry.model("mine")->path, core::join_path(paths_.config, "m.onnx"));
}

TEST_F(RegistryTest, ShapesAndTypesAreRead) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  dtype: fp16\n  input_shapes: {x: [1, 3], \"past.*\": [0]}\n  iterations: 9\n");
  const ModelConfig model = *loaded().model("net");
  EXPECT_EQ(model.input_shapes.at("x"), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(model.input_shapes.at("past.*"), std::vector<std::int64_t>{0});
  EXPECT_EQ(model.zoo_request(), "mlp,dtype=float16");
  EXPECT_EQ(model.iterations, 9);
}

TEST_F(RegistryTest, AnUnknownKeyIsRefusedWithItsLine) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  itrations: 3\n");
  EXPECT_THAT(refusal(), HasSubstr("models.yaml:3"));
}
TEST_F(RegistryTest, ErrorNamesTheUserFile) {
  user("backends.yaml", "cpu:\n  intra_op_threads: many\n");
  EXPECT_THAT(refusal(), HasSubstr(core::join_path(paths_.config, "backends.yaml") + ":2"));
}
TEST_F(RegistryTest, AModelWithoutAPathIsRefused) {
  user("models.yaml", "mine:\n  warmup: 1\n");
  EXPECT_THAT(refusal(), HasSubstr("models.yaml:1: 'mine' has no path"));
}
TEST_F(RegistryTest, ABackendWithoutAProviderIsRefused) {
  user("backends.yaml", "mine:\n  device_id: 1\n");
  EXPECT_THAT(refusal(), HasSubstr("'mine' has no provider"));
}
TEST_F(RegistryTest, ANegativeCountIsRefused) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  warmup: -1\n");
  EXPECT_THAT(refusal(), HasSubstr("models.yaml:3: warmup must be"));
}
TEST_F(RegistryTest, RefusesNonListShape) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  input_shapes: {x: 3}\n");
  EXPECT_THAT(refusal(), HasSubstr("list of sizes"));
}
TEST_F(RegistryTest, ANegativeDimensionIsRefused) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  input_shapes: {x: [-1]}\n");
  EXPECT_THAT(refusal(), HasSubstr("not a valid tensor size"));
}
TEST_F(RegistryTest, RejectsQuantizedDtype) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  dtype: int8\n");
  EXPECT_THAT(refusal(), HasSubstr("not a valid type"));
}
TEST_F(RegistryTest, DtypeOfIndicesSaysNothingOfTheWeights) {
  ship("models.yaml", "net:\n  path: zoo:mlp\n  dtype: int64\n");
  EXPECT_EQ(refusal(), "");
  EXPECT_FALSE(loaded().model("net")->dtype);
}
TEST_F(RegistryTest, EntriesMayBeWrapped) {
  user("models.yaml", "models:\n  mine:\n    path: zoo:mlp\n    warmup: 3\n");
  user("backends.yaml", "backends:\n  fast:\n    provider: FastExecutionProvider\n");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(loaded().model("mine")->warmup, 3);
  EXPECT_EQ(loaded().backend("fast")->provider, "FastExecutionProvider");
}
TEST_F(RegistryTest, OneInvalidEntryBlocksNoOther) {
  user("models.yaml", "bad:\n  path: zoo:mlp\n  warmup: many\nlist: 3\ngood:\n  path: zoo:mlp\n");
  const Registry registry = loaded();
  EXPECT_TRUE(registry.model("good"));
  EXPECT_TRUE(registry.model("net"));
  EXPECT_THAT(registry.model("bad").error().text(), HasSubstr("models.yaml:3"));
  EXPECT_THAT(registry.model("list").error().text(), HasSubstr("has no keys"));
}
TEST_F(RegistryTest, ABackendIsFoundByItsProvider) {
  EXPECT_EQ(loaded().backend("CPUExecutionProvider")->name, "cpu");
  EXPECT_FALSE(loaded().backend("OtherExecutionProvider"));
}
TEST_F(RegistryTest, RefusesListInsteadOfEntries) {
  ship("models.yaml", "- net\n");
  EXPECT_THAT(refusal(), HasSubstr("must map names to entries"));
}
TEST_F(RegistryTest, AnEntryWithoutKeysIsRefused) {
  ship("models.yaml", "net: zoo:mlp\n");
  EXPECT_THAT(refusal(), HasSubstr("has no keys"));
}
TEST_F(RegistryTest, AMissingShippedFileIsRefused) {
  paths_.share = "/nonexistent";
  EXPECT_THAT(refusal(), HasSubstr("/nonexistent/configs/models.yaml"));
}

TEST_F(RegistryTest, SuggestsNearestModel) { EXPECT_THAT(loaded().model("nett").error().text(), HasSubstr("did you mean net?")); }
TEST_F(RegistryTest, MissingFileIsReportedAsFile) {
  EXPECT_THAT(loaded().model("x/y.onnx").error().text(), HasSubstr("no such file: x/y.onnx"));
}
TEST_F(RegistryTest, RefusesFolder) { EXPECT_THAT(loaded().model(paths_.config).error().text(), HasSubstr("is a folder")); }
TEST_F(RegistryTest, RefusesDeviceFile) {
  EXPECT_THAT(loaded().model("/dev/zero").error().text(), HasSubstr("not a regular file"));
}
TEST_F(RegistryTest, UnknownBackendListsKnownOnes) {
  EXPECT_THAT(loaded().backend("gpu").error().text(), HasSubstr("known: cpu"));
}
TEST_F(RegistryTest, AFileIsAModel) {
  user("m.onnx", "bytes");
  const auto model = loaded().model(core::join_path(paths_.config, "m.onnx"));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->name, "m.onnx");
  EXPECT_FALSE(model->from_zoo());
}
TEST_F(RegistryTest, AZooNameNeedsNoEntry) { EXPECT_EQ(loaded().model("zoo:mlp,width=8")->zoo_request(), "mlp,width=8"); }

TEST_F(RegistryTest, ANameOfTheZooNeedsNoPrefix) { EXPECT_EQ(loaded().model("llama2-70b")->zoo_request(), "llama2-70b"); }

graph::Graph with_weights(ElementType type) {
  graph::Graph graph;
  graph.initializers.push_back({graph.add_tensor({"w", type, graph::Shape{100}}), {}});
  graph.initializers.push_back({graph.add_tensor({"scale", ElementType::float32, graph::Shape{1}}), {}});
  return graph;
}
TEST(DeclaredType, IsOptional) { EXPECT_TRUE(check_dtype({}, with_weights(ElementType::float16))); }
TEST(DeclaredType, MatchesMostWeights) {
  ModelConfig config;
  config.dtype = ElementType::float16;
  EXPECT_TRUE(check_dtype(config, with_weights(ElementType::float16)));
  EXPECT_THAT(check_dtype(config, with_weights(ElementType::float64)).error().text(), HasSubstr("its weights are float64"));
}
TEST(DeclaredType, AcceptedForModelWithoutWeights) {
  ModelConfig config;
  config.dtype = ElementType::float16;
  EXPECT_TRUE(check_dtype(config, {}));
}

TEST_F(RegistryTest, MapsOptionsToProviderSpelling) {
  ship("backends.yaml",
       "m:\n  provider: MIGraphXExecutionProvider\n  device_id: 2\n  fp16_enable: true\n  intra_op_threads: 3\n  other: x\n");
  const BackendOptions options = *backend_options(*loaded().backend("m"));
  EXPECT_EQ(options.provider_options,
            (std::map<std::string, std::string>{{"device_id", "2"}, {"migraphx_fp16_enable", "1"}, {"other", "x"}}));
  EXPECT_EQ(options.intra_op_threads, 3);
}
TEST_F(RegistryTest, ReadsTheBuildOfABackend) {
  ship("backends.yaml", "d:\n  provider: DnnlExecutionProvider\n  ort_build: providers\n");
  const BackendConfig config = *loaded().backend("d");
  EXPECT_EQ(config.ort_build, "providers");
  EXPECT_TRUE(backend_options(config)->provider_options.empty());
}
TEST_F(RegistryTest, RefusesInvalidBuildNames) {
  for (const char* name : {"../x", "\"\""}) {
    ship("backends.yaml", std::string("here:\n  provider: CPUExecutionProvider\n  ort_build: ") + name + "\n");
    EXPECT_THAT(refusal(), HasSubstr("not a valid name of a build"));
  }
}
TEST_F(RegistryTest, RefusesUnsupportedHalfPrecision) {
  EXPECT_THAT(backend_refusal("CPUExecutionProvider\n  fp16_enable: true\n"), HasSubstr("no option for fp16_enable"));
}
TEST_F(RegistryTest, RefusesUnsupportedDeviceId) {
  EXPECT_THAT(backend_refusal("CPUExecutionProvider\n  device_id: 1\n"), HasSubstr("no option for device_id"));
}

}  // namespace
}  // namespace aaco::runner
