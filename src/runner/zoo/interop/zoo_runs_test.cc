#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/files.h"
#include "graph/onnx.h"
#include "runner/inputs.h"
#include "runner/ort_runtime.h"
#include "runner/zoo.h"

namespace aaco::runner {
namespace {

std::shared_ptr<ort::Runtime> runtime() {
  const core::Environment environment = core::Environment::of_process();
  const auto opened = ort::Runtime::open({"", environment, core::Paths::find(environment, core::executable_path())});
  return opened ? *opened : nullptr;
}

struct Trouble {
  std::int64_t not_finite = 0;
  std::int64_t denormal = 0;
};

Trouble look_for_trouble(const TensorData& tensor) {
  Trouble trouble;
  if (tensor.type != ElementType::float32) return trouble;
  for (std::size_t at = 0; at + sizeof(float) <= tensor.bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + at, sizeof value);
    if (!std::isfinite(value)) ++trouble.not_finite;
    if (std::fpclassify(value) == FP_SUBNORMAL) ++trouble.denormal;
  }
  return trouble;
}

// Makes the model small, runs it once on the CPU and looks at every output.
class ZooRuns : public testing::TestWithParam<const char*> {};

TEST_P(ZooRuns, WithFiniteOutputs) {
  const auto ort = runtime();
  if (ort == nullptr) GTEST_SKIP() << "skipped, no ONNX Runtime library here";
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const auto request = zoo::parse_request(GetParam());
  ASSERT_TRUE(request) << request.error().text();
  const auto path = zoo::make(*request->entry, request->config, 1, folder->path());
  ASSERT_TRUE(path) << path.error().text();
  const auto graph = graph::onnx::load(*path);
  ASSERT_TRUE(graph) << graph.error().text();
  InputRequest wanted;
  for (const graph::TensorId id : graph->inputs)
    for (const graph::Dimension& dimension : *graph->tensor(id).shape)
      if (dimension.symbol == "sequence_length" || dimension.symbol == "past_sequence_length")
        wanted.dimensions[dimension.symbol] = 5;
  wanted.batch = 2;
  const auto inputs = make_inputs(*graph, wanted);
  ASSERT_TRUE(inputs) << inputs.error().text();

  BackendOptions options;
  options.provider = "CPUExecutionProvider";
  options.free_dimensions = inputs->dimensions;
  const auto backend = ort->open_model(*path, options);
  ASSERT_TRUE(backend) << backend.error().text();
  ASSERT_TRUE((*backend)->bind(inputs->tensors));
  const core::Status ran = (*backend)->run_once();
  ASSERT_TRUE(ran) << ran.error().text();
  const auto outputs = (*backend)->read_outputs();
  ASSERT_TRUE(outputs) << outputs.error().text();
  ASSERT_EQ(outputs->size(), graph->outputs.size());
  for (const TensorData& output : *outputs) {
    const Trouble trouble = look_for_trouble(output);
    EXPECT_EQ(trouble.not_finite, 0) << output.name;
    EXPECT_EQ(trouble.denormal, 0) << output.name;
    EXPECT_EQ(output.shape.at(0), 2) << output.name;
  }
}

// One of each structure, small enough for a test: what is left out (VGG-16, ViT, BERT, GPT-2 whole) differs in the number of
// layers only.
INSTANTIATE_TEST_SUITE_P(Small, ZooRuns,
                         testing::Values("mlp", "launch-bound,nodes=50", "memory-bound,rows=32,columns=32",
                                         "squeezenet1.0,size=64", "squeezenet1.1,size=64", "mobilenetv2,size=64",
                                         "efficientnet-b0,size=64", "densenet121,size=64", "resnet18,size=64", "llama-tiny",
                                         "llama-tiny,dtype=float16", "llama-tiny,kv_heads=8,tied=0", "mlp,dtype=float16",
                                         "distilbert,layers=1", "gpt2,layers=1,heads=2"));

}  // namespace
}  // namespace aaco::runner
