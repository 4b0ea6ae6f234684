#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/files.h"
#include "core/numbers.h"
#include "formats/compression.h"
#include "formats/csv.h"
#include "graph/batch.h"
#include "graph/cost.h"
#include "graph/fuse.h"
#include "graph/load.h"
#include "graph/parameters.h"
#include "runner/zoo.h"
#include "tests/support/source_dir.h"

// What the catalogue counts in networks whose work others have published.
namespace aaco::runner {
namespace {

graph::Model prepared(const std::string& name, const graph::Bindings& sizes = {}) {
  const auto request = zoo::parse_request(name);
  EXPECT_TRUE(request) << request.error().text();
  auto blueprint = zoo::build_graph(*request->entry, request->config);
  EXPECT_TRUE(blueprint) << blueprint.error().text();
  auto model = graph::prepare(std::move(blueprint->graph), sizes);
  EXPECT_TRUE(model) << model.error().text();
  return std::move(*model);
}

// Multiply-accumulates of the products and convolutions alone, as torchvision and the papers count.
double macs_of(const graph::Graph& graph) {
  double flops = 0;
  for (const graph::CostedNode& item : cost_of(graph).nodes) {
    double bias = 0;  // an addition an element of the output
    if (item.node->inputs.size() > 2 && item.node->inputs[2].valid() &&
        (item.node->op_type == "Conv" || item.node->op_type == "Gemm"))
      bias = static_cast<double>(graph::element_count(*item.graph->tensor(item.node->outputs[0]).shape).value_or(0));
    if (item.cost.kind == graph::OperatorClass::gemm || item.cost.kind == graph::OperatorClass::convolution ||
        item.cost.kind == graph::OperatorClass::depthwise)
      flops += item.repeats * (item.cost.flops - bias);
  }
  return flops / 2;
}

struct Published {
  const char* name;
  graph::Bindings sizes;
  double giga_macs;
  double tolerance;  // of the digits that were published
};

class PublishedWork : public testing::TestWithParam<Published> {};

TEST_P(PublishedWork, MatchesTheCatalogue) {
  const graph::Model model = prepared(GetParam().name, GetParam().sizes);
  EXPECT_NEAR(macs_of(model.graph) / 1e9, GetParam().giga_macs, GetParam().tolerance);
}

// Convolutional networks and ViT: "GFLOPS" of torchvision's table of models (multiply-accumulates, 224 x 224). SqueezeNet and
// VGG-16 stand there too. BERT and DistilBERT: 22.5 and 11.3 GFLOPs for 128 tokens, table 1 of TinyBERT (Jiao et al. 2020), which
// leaves the embedding, the pooler and the rounding to the reader.
INSTANTIATE_TEST_SUITE_P(Table, PublishedWork,
                         testing::Values(Published{"resnet18", {}, 1.81, 0.006}, Published{"resnet50", {}, 4.09, 0.006},
                                         Published{"mobilenetv2", {}, 0.30, 0.006}, Published{"efficientnet-b0", {}, 0.39, 0.006},
                                         Published{"vgg16", {}, 15.47, 0.006}, Published{"squeezenet1.0", {}, 0.82, 0.006},
                                         Published{"squeezenet1.1", {}, 0.35, 0.006}, Published{"densenet121", {}, 2.83, 0.006},
                                         Published{"vit-b-16", {}, 17.56, 0.02},
                                         Published{"bert-base", {{"sequence_length", 128}}, 22.5 / 2, 0.1},
                                         Published{"distilbert", {{"sequence_length", 128}}, 11.3 / 2, 0.1}),
                         [](const auto& published) {
                           std::string name = published.param.name;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

// A forward pass takes 2 N FLOPs a token (N: parameters in products), and 4 x layers x width FLOPs a token and position looked
// at: Kaplan et al. 2020, "Scaling laws for neural language models", section 2.1, counted without a causal mask's saving.
TEST(ZooWork, DecodersScaleWithParametersAndContext) {
  struct Case {
    const char* name;
    double parameters, embedding, layers, width;
  };
  constexpr double kTokens = 512;
  for (const Case& item :
       {Case{"llama2-7b", 6'738'415'616.0, 32000.0 * 4096, 32, 4096},
        Case{"mistral-7b", 7'241'732'096.0, 32000.0 * 4096, 32, 4096}, Case{"gpt2", 124'439'808.0, 1024.0 * 768, 12, 768}}) {
    const graph::Model model = prepared(item.name, {{"sequence_length", 512}});
    const double expected = kTokens * (item.parameters - item.embedding) + 2 * kTokens * kTokens * item.layers * item.width;
    EXPECT_NEAR(macs_of(model.graph) / expected, 1, 0.01) << item.name;
  }
}

TEST(ZooWork, EveryZooOperatorHasAModelAndKnownShapes) {
  for (const zoo::Entry& entry : zoo::list()) {
    const graph::Model model = prepared(entry.name);
    EXPECT_TRUE(model.shapes.problems.empty()) << entry.name << ": " << model.shapes.problems[0];
    EXPECT_EQ(model.shapes.symbolic + model.shapes.unknown, 0) << entry.name;
    const graph::GraphCost cost = cost_of(model.graph);
    EXPECT_EQ(cost.unmodelled.size(), 0U) << entry.name << ": " << cost.unmodelled[0].op_type;
    EXPECT_EQ(cost.confidence, 1) << entry.name;
  }
}

TEST(ZooWork, WorkFollowsTheBatch) {
  for (const char* name : {"resnet50", "bert-base", "llama-tiny"}) {
    const auto request = zoo::parse_request(name);
    auto one = zoo::build_graph(*request->entry, request->config);
    auto eight = *one;
    graph::Bindings sizes;
    ASSERT_TRUE(graph::bind_batch(eight.graph, 8, sizes));
    const double work = cost_of(graph::prepare(std::move(one->graph))->graph).flops;
    EXPECT_NEAR(cost_of(graph::prepare(std::move(eight.graph), sizes)->graph).flops / work, 8, 0.01) << name;
  }
}

TEST(ZooWork, ParametersAreCountedAsTheZooDeclaresThem) {
  for (const zoo::Entry& entry : zoo::list()) {
    const auto blueprint = zoo::build_graph(entry, {});
    ASSERT_TRUE(blueprint);
    const auto counted = static_cast<double>(count_parameters(blueprint->graph).elements);
    const auto declared = static_cast<double>(blueprint->parameters);
    // Tables that a graph carries beside its weights (rotary angles) are constants like any other.
    EXPECT_GE(counted, declared) << entry.name;
    EXPECT_LE(counted, declared * 1.02 + 300'000) << entry.name;
  }
  const auto resnet = zoo::parse_request("resnet50");
  EXPECT_EQ(count_parameters(zoo::build_graph(*resnet->entry, resnet->config)->graph).elements, 25'557'032);
}

TEST(ZooWork, FusionFindsTheModelBlocks) {
  const auto rules = graph::load_fusion_rules(AACO_SOURCE_DIR "/data/fusion/onnxruntime_cpu.yaml");
  ASSERT_TRUE(rules) << rules.error().text();
  const auto found = [&](const char* name) {
    std::map<std::string, int> kernels;
    for (const graph::FusedGroup& group : fuse(prepared(name).graph, *rules).groups) ++kernels[group.pattern];
    return kernels;
  };
  // 53 convolutions: 33 end in a Relu, 16 in a sum and a Relu, 4 in neither.
  EXPECT_EQ(found("resnet50"), (std::map<std::string, int>{{"conv_activation", 33}, {"conv_add_relu", 16}, {"conv_bn", 4}}));
  auto bert = found("bert-base");
  EXPECT_EQ(bert["attention"], 12);
  EXPECT_EQ(bert["gelu_erf"], 12);
  EXPECT_EQ(found("gpt2")["gelu_tanh"], 12);
  auto llama = found("llama-tiny");
  EXPECT_EQ(llama["rms_norm"], 2 * 5 + 1);
  EXPECT_EQ(llama["silu"], 5);
}

// The `flops` of measured models (2 a multiply-accumulate) that have the zoo's structure.
TEST(ZooWork, MatchesPublishedCounts) {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::string path =
      core::join_path(set != nullptr ? set : std::string(AACO_SOURCE_DIR) + "/../shared/data", "estimation/models.csv.gz");
  const auto packed = core::read_file(path);
  if (!packed) GTEST_SKIP() << "skipped, no real data";
  std::string text(16 << 20, '\0');
  const auto decoder = formats::make_decompressor(formats::Compression::gzip);
  const auto step = decoder->step(*packed, text);
  ASSERT_TRUE(step && step->at_boundary);
  text.resize(step->produced);
  const std::map<std::string, std::string> same = {{"resnet18", "resnet18"},
                                                   {"resnet34", "resnet34"},
                                                   {"resnet101", "resnet101"},
                                                   {"vgg16", "vgg16"},
                                                   {"vit_b_32", "vit-b-32"},
                                                   {"vit_l_16", "vit-l-16"},
                                                   {"mobilenet_v3_large", "mobilenetv3-large"},
                                                   {"efficientnet_b0", "efficientnet-b0"},
                                                   {"efficientnet_b1", "efficientnet-b1"}};
  std::map<std::string, double> macs;
  for (const auto& [theirs, ours] : same) macs[theirs] = macs_of(prepared(ours).graph);
  int compared = 0;
  formats::csv::Decoder rows;
  const char* at = text.data();
  while (rows.next(at, text.data() + text.size(), true) == formats::csv::Step::record) {
    const auto& fields = rows.fields();
    if (fields.size() < 6 || !macs.contains(std::string(fields[1]))) continue;
    const double flops = core::parse_f64(fields[5]).value_or(0), batch = core::parse_f64(fields[3]).value_or(0);
    EXPECT_NEAR(2 * batch * macs[std::string(fields[1])] / flops, 1, 0.005) << fields[1] << " " << batch;
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace aaco::runner
