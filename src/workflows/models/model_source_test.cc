#include "workflows/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_session.h"
#include "workflows/inspect.h"
#include "workflows/zoo.h"

namespace aaco::workflows {
namespace {

using testing::HasSubstr;

class ModelSource : public testing::Test {
 protected:
  core::Result<graph::Model> open(const std::string& name, std::optional<std::int64_t> batch = {}, graph::Bindings sizes = {}) {
    ModelRequest request;
    request.name = name;
    request.batch = batch;
    request.dimensions = std::move(sizes);
    return open_model(request, lake_.services);
  }
  std::string refusal(const std::string& name, std::optional<std::int64_t> batch = {}, graph::Bindings sizes = {}) {
    const auto model = open(name, batch, std::move(sizes));
    return model ? "accepted" : model.error().text();
  }
  core::Result<core::Json> inspected(bool strict, graph::Bindings sizes = {}) {
    InspectRequest request;
    request.model.name = "zoo:mlp";
    request.model.dimensions = std::move(sizes);
    request.strict = strict;
    return inspect(request, lake_.services);
  }
  Lake lake_;
};

TEST_F(ModelSource, ZooModelIsBuiltWithItsParameters) {
  const auto model = open("zoo:mlp,layers=1,width=8,inputs=4");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->graph.nodes.size(), 3U) << "Gemm, Relu and the head's Gemm";
  EXPECT_EQ(model->graph.tensor(model->graph.inputs.front()).shape, (graph::Shape{1, 4}));
}
TEST_F(ModelSource, ConfiguredNameResolvesToItsZooModel) {
  const auto model = open("mlp");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->graph.name, "mlp");
}
TEST_F(ModelSource, UserFileOverridesAModelsParameters) {
  lake_.services.paths.config = lake_.in(".");
  lake_.file("models.yaml", "mlp:\n  path: zoo:mlp,layers=1\n");
  EXPECT_EQ(open("mlp")->graph.nodes.size(), 3U);
}
TEST_F(ModelSource, ConfiguredSizesFillOpenDimensionsOnly) {
  lake_.services.paths.config = lake_.in(".");
  lake_.file("models.yaml", "mine:\n  path: zoo:mlp\n  input_shapes: {\"in*\": [6, 784]}\n");
  EXPECT_EQ(open("mine")->items.count, 6);
  EXPECT_EQ(open("mine", 2)->items.count, 2) << "the caller's batch has precedence";
}
TEST_F(ModelSource, BatchAndDimensionBindTheSameSymbol) {
  EXPECT_EQ(open("zoo:mlp", 5)->items.count, 5);
  EXPECT_EQ(open("zoo:mlp", {}, {{"batch", 5}})->items.count, 5);
}
TEST_F(ModelSource, RefusesContradictingBatch) {
  EXPECT_THAT(refusal("zoo:mlp", 5, {{"batch", 4}}), HasSubstr("batch"));
  EXPECT_EQ(refusal("zoo:mlp", 4, {{"batch", 4}}), "accepted");
}
TEST_F(ModelSource, RefusesZeroItems) {
  EXPECT_THAT(refusal("zoo:mlp", {}, {{"batch", 0}}), HasSubstr("dimension 'batch' (items per call) is 0"));
}
TEST_F(ModelSource, UnknownZooModelNamesTheNearest) { EXPECT_THAT(refusal("zoo:mpl"), HasSubstr("did you mean mlp?")); }
TEST_F(ModelSource, UnknownNameNamesTheNearest) { EXPECT_THAT(refusal("resnet51"), HasSubstr("did you mean resnet50?")); }
TEST_F(ModelSource, UnknownZooParameterListsTheParameters) {
  EXPECT_THAT(refusal("zoo:mlp,layres=2"), HasSubstr("inputs, width, layers, classes"));
  EXPECT_THAT(refusal("zoo:mlp,layers=0"), HasSubstr("layers is 0, must be between"));
}
TEST_F(ModelSource, ZooModelHasNoEntries) { EXPECT_THAT(refusal("zoo:mlp#decode"), HasSubstr("has no entry 'decode'")); }
TEST_F(ModelSource, RefusesMissingFilesAndFolders) {
  EXPECT_THAT(refusal(lake_.in("missing.onnx")), HasSubstr("no such file"));
  EXPECT_THAT(refusal(lake_.in(".")), HasSubstr("is a folder"));
}
TEST_F(ModelSource, ConfiguredPathThatIsMissingNamesTheEntry) {
  lake_.services.paths.config = lake_.in(".");
  lake_.file("models.yaml", "mine:\n  path: gone.onnx\n");
  EXPECT_THAT(refusal("mine"), HasSubstr("models.yaml:"));
}
TEST_F(ModelSource, RefusesFilesThatAreNotModels) {
  EXPECT_NE(refusal(lake_.file("text.onnx", "this is not a model")), "accepted");
  EXPECT_NE(refusal(lake_.file("empty.onnx", "")), "accepted");
}

TEST_F(ModelSource, StrictInspectionRequiresEverySize) {
  EXPECT_TRUE(inspected(false));
  const auto refused = inspected(true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("dimensions without a size"));
  EXPECT_TRUE(inspected(true, {{"batch", 2}}));
}
TEST_F(ModelSource, InspectionCountsMultiplyAccumulates) {
  const auto one = inspected(true, {{"batch", 1}}), two = inspected(true, {{"batch", 2}});
  constexpr std::int64_t kMacs = 784 * 512 + 512 * 512 + 512 * 10;
  EXPECT_EQ((*one)["macs"].as_i64(), kMacs);
  EXPECT_EQ((*two)["macs"].as_i64(), 2 * kMacs);
  EXPECT_EQ((*two)["weight_bytes"].as_i64(), (kMacs + 512 + 512 + 10) * 4) << "weights do not grow with the batch";
}

TEST_F(ModelSource, ZooListsEveryModelAsNotBuilt) {
  const auto lines = list_zoo(lake_.services);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines, testing::Contains(testing::AllOf(testing::Field(&ZooLine::name, "mlp"),
                                                       testing::Field(&ZooLine::parameters, 669'706),
                                                       testing::Field(&ZooLine::path, ""))));
}
TEST_F(ModelSource, OnlyZooModelsAreMade) {
  const auto made = make_zoo_model("zoo:mlp,layers=1,width=8,inputs=4", 1, lake_.services);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_TRUE(core::exists(*made));
  const auto refused = make_zoo_model(*made, 1, lake_.services);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is a file, not a zoo model"));
  EXPECT_FALSE(make_zoo_model("zoo:nosuch", 1, lake_.services));
}

}  // namespace
}  // namespace aaco::workflows
