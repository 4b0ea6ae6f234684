#include "runner/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/files.h"

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
      {"resnet18", 11'689'512},     {"resnet50", 25'557'032},     {"mobilenetv2", 3'504'872},
      {"squeezenet1.0", 1'248'424}, {"squeezenet1.1", 1'235'496},
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

TEST(Zoo, LaunchBoundHasAsManyNodesAsAskedFor) { EXPECT_EQ(build("launch-bound,nodes=123").graph.nodes.size(), 123U); }

TEST(Zoo, RefusesANameItDoesNotKnow) { EXPECT_THAT(refusal("resnet51"), testing::HasSubstr("did you mean resnet50")); }
TEST(Zoo, RefusesAnUnknownParameter) {
  EXPECT_THAT(refusal("mlp,depth=3"), testing::HasSubstr("it has inputs, width, layers, classes"));
}
TEST(Zoo, RefusesAValueOutOfRange) { EXPECT_THAT(refusal("mlp,layers=0"), testing::HasSubstr("from 1 to 1000")); }
TEST(Zoo, RefusesAValueThatIsNoNumber) { EXPECT_THAT(refusal("mlp,layers=two"), testing::HasSubstr("no integer")); }
TEST(Zoo, RefusesAFieldWithoutAValue) { EXPECT_THAT(refusal("mlp,layers"), testing::HasSubstr("not NAME=VALUE")); }
TEST(Zoo, RefusesAnUnknownElementType) { EXPECT_THAT(refusal("mlp,dtype=float17"), testing::HasSubstr("no element type")); }
TEST(Zoo, RefusesAnElementTypeItDoesNotMake) {
  EXPECT_THAT(refusal("mlp,dtype=int8"), testing::HasSubstr("float32 and float16"));
}

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

TEST_F(ZooCache, AFileThatACrashCutShortIsMadeAgain) {
  const std::string path = *make_mlp(1);
  const std::string bytes = *core::read_file(path);
  ASSERT_TRUE(core::write_file_atomic(path, bytes.substr(0, bytes.size() / 2)));
  EXPECT_EQ(*core::read_file(*make_mlp(1)), bytes);
}

TEST_F(ZooCache, SeveralMakersAtOnceGetOneFile) {
  std::vector<std::string> paths(4);
  std::vector<std::thread> makers;
  for (std::string& path : paths) makers.emplace_back([this, &path] { path = make_mlp(7).value_or(""); });
  for (std::thread& maker : makers) maker.join();
  EXPECT_FALSE(paths[0].empty());
  for (const std::string& path : paths) EXPECT_EQ(path, paths[0]);
}

TEST_F(ZooCache, AFolderThatCannotBeWrittenIsAnError) {
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
