#include "runner/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/files.h"
#include "graph/onnx.h"

namespace aaco::runner::zoo {
namespace {

Blueprint build(std::string_view text) {
  const auto request = parse_request(text);
  EXPECT_TRUE(request) << request.error().text();
  auto made = build_graph(*request->entry, request->config);
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

std::string refusal(std::string_view text) {
  const auto request = parse_request(text);
  if (!request) return request.error().text();
  const auto made = build_graph(*request->entry, request->config);
  return made ? "" : made.error().text();
}

std::int64_t count(const Blueprint& blueprint, std::string_view op_type) {
  const auto& nodes = blueprint.graph.nodes;
  return std::count_if(nodes.begin(), nodes.end(), [&](const graph::Node& node) { return node.op_type == op_type; });
}

TEST(Zoo, ParameterCountsAreThePublishedOnes) {
  const std::map<std::string, std::int64_t> published = {
      {"resnet18", 11'689'512},       {"resnet50", 25'557'032},       {"mobilenetv2", 3'504'872},
      {"efficientnet-b0", 5'288'548}, {"vgg16", 138'357'544},         {"squeezenet1.0", 1'248'424},
      {"squeezenet1.1", 1'235'496},   {"densenet121", 7'978'856},     {"vit-b-16", 86'567'656},
      {"bert-base", 109'482'240},     {"distilbert", 66'362'880},     {"gpt2", 124'439'808},
      {"gpt2-xl", 1'557'611'200},     {"llama-110m", 109'529'856},    {"tinyllama-1.1b", 1'100'048'384},
      {"llama3.2-1b", 1'235'814'400}, {"llama2-7b", 6'738'415'616},   {"llama3-8b", 8'030'261'248},
      {"mistral-7b", 7'241'732'096},  {"llama2-70b", 68'976'648'192},
  };
  for (const auto& [name, parameters] : published) EXPECT_EQ(build(name).parameters, parameters) << name;
}

TEST(Zoo, EveryEntryDeclaresWhatItBuilds) {
  for (const Entry& entry : list()) {
    if (entry.published_parameters == 0) continue;
    EXPECT_EQ(build(entry.name).parameters, entry.published_parameters) << entry.name;
  }
}

TEST(Zoo, NamesAndAliasesAreUnique) {
  std::vector<std::string> names;
  for (const Entry& entry : list()) {
    names.push_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Zoo, ResNet50HasItsLayers) {
  const Blueprint made = build("resnet50");
  EXPECT_EQ(count(made, "Conv"), 53);
  EXPECT_EQ(count(made, "BatchNormalization"), 53);
  EXPECT_EQ(count(made, "Relu"), 49);
  EXPECT_EQ(count(made, "Add"), 16);
  EXPECT_EQ(count(made, "Gemm"), 1);
}

TEST(Zoo, MobileNetV2HasItsLayers) {
  const Blueprint made = build("mobilenetv2");
  EXPECT_EQ(count(made, "Conv"), 52);
  EXPECT_EQ(count(made, "Clip"), 35);
  EXPECT_EQ(count(made, "Add"), 10);
}

TEST(Zoo, SqueezeNetHasItsLayers) {
  EXPECT_EQ(count(build("squeezenet1.1"), "Conv"), 26);
  EXPECT_EQ(count(build("squeezenet1.1"), "Concat"), 8);
  EXPECT_EQ(count(build("squeezenet1.0"), "MaxPool"), 3);
}

TEST(Zoo, DenseNetHasItsLayers) {
  const Blueprint made = build("densenet121");
  EXPECT_EQ(count(made, "Conv"), 120);
  EXPECT_EQ(count(made, "Concat"), 58);
  EXPECT_EQ(count(made, "AveragePool"), 3);
}

TEST(Zoo, EfficientNetHasItsLayers) {
  const Blueprint made = build("efficientnet-b0");
  EXPECT_EQ(count(made, "Conv"), 81);
  EXPECT_EQ(count(made, "GlobalAveragePool"), 17);
  EXPECT_EQ(count(made, "Add"), 9);
}

TEST(Zoo, VggHasItsLayers) {
  EXPECT_EQ(count(build("vgg16"), "Conv"), 13);
  EXPECT_EQ(count(build("vgg16"), "Gemm"), 3);
  EXPECT_EQ(count(build("vgg16"), "MaxPool"), 5);
}

TEST(Zoo, TransformersHaveTheirLayers) {
  EXPECT_EQ(count(build("bert-base"), "LayerNormalization"), 25);
  EXPECT_EQ(count(build("bert-base"), "Softmax"), 12);
  EXPECT_EQ(count(build("distilbert"), "Softmax"), 6);
  EXPECT_EQ(count(build("vit-b-16"), "LayerNormalization"), 25);
  EXPECT_EQ(count(build("gpt2"), "LayerNormalization"), 25);
  EXPECT_EQ(count(build("gpt2"), "MatMul"), 12 * 6 + 1);
  EXPECT_EQ(count(build("llama2-7b"), "MatMul"), 32 * 9 + 2);
}

TEST(Zoo, DecodersReadAndWriteTheirCache) {
  const Blueprint made = build("gpt2");
  EXPECT_EQ(made.graph.inputs.size(), 3U + 24U);
  EXPECT_EQ(made.graph.outputs.size(), 1U + 24U);
  EXPECT_EQ(made.graph.tensor(made.graph.inputs[3]).name, "past_key_values.0.key");
  EXPECT_EQ(graph::to_string(*made.graph.tensor(made.graph.outputs[1]).shape),
            "[batch_size, 12, past_sequence_length + sequence_length, 64]");
}

TEST(Zoo, DecodersHaveEachLayoutOfACache) {
  EXPECT_EQ(build("llama-tiny,cache=0").graph.outputs.size(), 1U);
  EXPECT_EQ(build("llama-tiny,cache=2").graph.inputs.size(), build("llama-tiny").graph.inputs.size() + 1);
  EXPECT_EQ(count(build("llama-tiny,cache=3"), "GroupQueryAttention"), 5);
  EXPECT_EQ(build("llama-tiny,cache=3").parameters, build("llama-tiny").parameters);
  EXPECT_THAT(refusal("gpt2,cache=3"), testing::HasSubstr("cache is 3, must be between 0 and 2"));
}

TEST(Zoo, GroupedQueriesShareKeysAndValues) {
  EXPECT_EQ(count(build("llama-tiny"), "Expand"), 2 * 5);
  EXPECT_EQ(count(build("llama-tiny,kv_heads=8"), "Expand"), 0);
}

TEST(Zoo, HalfPrecisionIsInEveryWeight) {
  const Blueprint made = build("llama-tiny,dtype=fp16");
  EXPECT_EQ(made.graph.tensor(made.graph.initializers[0].tensor).type, ElementType::float16);
  EXPECT_LT(footprint(made).disk_bytes, footprint(build("llama-tiny")).disk_bytes);
}

TEST(Zoo, LargeModelsReportTheirNeed) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_GT(footprint(build("llama2-7b")).memory_bytes, 25 * kGiB);
  EXPECT_LT(footprint(build("resnet50")).memory_bytes, kGiB);
}

TEST(Zoo, HugeModelStillHasAGraph) {
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const auto request = parse_request("llama2-70b,dtype=float16");
  const std::string path = core::join_path(folder->path(), "m.onnx");
  ASSERT_TRUE(write_structure(*request->entry, request->config, path));
  EXPECT_LT(core::file_size(path).value(), 4 << 20);
  const auto graph = graph::onnx::load(path);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_GT(graph::total_constants(*graph).bytes, std::int64_t{137'000'000'000});
  EXPECT_FALSE(graph::onnx::check_external_data(*graph, path));
}

TEST(Zoo, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_THAT(refusal("llama-tiny,heads=7"), testing::HasSubstr("multiple of heads"));
}
TEST(Zoo, RefusesGroupsThatDoNotDivideTheHeads) {
  EXPECT_THAT(refusal("llama-tiny,kv_heads=3"), testing::HasSubstr("multiple of kv_heads"));
}

TEST(Zoo, LaunchBoundHasAsManyNodesAsAskedFor) { EXPECT_EQ(build("launch-bound,nodes=123").graph.nodes.size(), 123U); }

TEST(Zoo, RefusesANameItDoesNotKnow) { EXPECT_THAT(refusal("resnet51"), testing::HasSubstr("did you mean resnet50")); }
TEST(Zoo, RefusesAnUnknownParameter) {
  EXPECT_THAT(refusal("mlp,depth=3"), testing::HasSubstr("it has inputs, width, layers, classes"));
}
TEST(Zoo, RefusesAValueOutOfRange) { EXPECT_THAT(refusal("mlp,layers=0"), testing::HasSubstr("between 1 and 1000")); }
TEST(Zoo, RefusesNonNumericValue) { EXPECT_THAT(refusal("mlp,layers=two"), testing::HasSubstr("not an integer")); }
TEST(Zoo, RefusesAFieldWithoutAValue) { EXPECT_THAT(refusal("mlp,layers"), testing::HasSubstr("not NAME=VALUE")); }
TEST(Zoo, RefusesAnUnknownElementType) { EXPECT_THAT(refusal("mlp,dtype=float17"), testing::HasSubstr("not an element type")); }
TEST(Zoo, RefusesUnsupportedElementType) { EXPECT_THAT(refusal("mlp,dtype=int8"), testing::HasSubstr("float32 and float16")); }

class ZooCache : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir());
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }
  core::Result<std::string> make_mlp(std::uint64_t seed, std::string_view text = "mlp,width=32") {
    const auto request = parse_request(text);
    return make(*request->entry, request->config, seed, folder_->path());
  }
  std::optional<core::TemporaryDirectory> folder_;
};

TEST_F(ZooCache, TheSameRequestIsTheSameFile) {
  const auto first = make_mlp(1);
  ASSERT_TRUE(first) << first.error().text();
  const std::string bytes = *core::read_file(*first);
  EXPECT_EQ(*make_mlp(1), *first);
  ASSERT_TRUE(core::remove_tree(core::parent_path(*first)));
  EXPECT_EQ(*core::read_file(*make_mlp(1)), bytes);
}

TEST_F(ZooCache, SeedAndConfigurationAreInTheName) {
  EXPECT_NE(*make_mlp(1), *make_mlp(2));
  EXPECT_NE(*make_mlp(1), *make_mlp(1, "mlp,width=33"));
  EXPECT_NE(*core::read_file(*make_mlp(1)), *core::read_file(*make_mlp(2)));
}

TEST_F(ZooCache, RegeneratesTruncatedFile) {
  const std::string path = *make_mlp(1);
  const std::string bytes = *core::read_file(path);
  ASSERT_TRUE(core::write_file_atomic(path, bytes.substr(0, bytes.size() / 2)));
  EXPECT_EQ(*core::read_file(*make_mlp(1)), bytes);
}

TEST_F(ZooCache, ConcurrentMakersShareOneFile) {
  std::vector<std::string> paths(4);
  std::vector<std::thread> makers;
  for (std::string& path : paths) makers.emplace_back([this, &path] { path = make_mlp(7).value_or(""); });
  for (std::thread& maker : makers) maker.join();
  EXPECT_FALSE(paths[0].empty());
  for (const std::string& path : paths) EXPECT_EQ(path, paths[0]);
}

TEST_F(ZooCache, RemovesLeftoversOfKilledMaker) {
  const std::string models = core::join_path(folder_->path(), "models");
  const std::string name = core::base_name(core::parent_path(*make_mlp(1)));
  ASSERT_TRUE(core::remove_tree(core::join_path(models, name)));
  const std::string left = core::join_path(models, ".making-" + name + ".left");
  ASSERT_TRUE(core::make_directories(left));
  ASSERT_TRUE(make_mlp(1));
  EXPECT_FALSE(core::exists(left));
}

TEST_F(ZooCache, RefusesFullDiskBeforeWriting) {
  const auto request = parse_request("llama2-70b,layers=1000,vocab=1000000,ffn=262144");
  const auto made = make(*request->entry, request->config, 1, folder_->path());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, core::ErrorCode::exhausted);
  EXPECT_THAT(made.error().text(), testing::HasSubstr("are free"));
}

TEST_F(ZooCache, UnwritableFolderIsAnError) {
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_->path(), "models"), "a file where the folder should be"));
  EXPECT_FALSE(make_mlp(1));
}

TEST_F(ZooCache, ProgressEndsAtTheTotal) {
  const auto request = parse_request("mlp,width=32");
  std::int64_t done = 0, total = -1;
  ASSERT_TRUE(
      make(*request->entry, request->config, 3, folder_->path(), [&](std::int64_t d, std::int64_t t) { done = d, total = t; }));
  EXPECT_EQ(done, total);
}

}  // namespace
}  // namespace aaco::runner::zoo
