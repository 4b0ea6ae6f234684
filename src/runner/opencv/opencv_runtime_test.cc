#include "runner/opencv_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/environment.h"
#include "core/files.h"
#include "runner/ort_runtime.h"
#include "runner/zoo.h"

namespace aaco::runner::opencv {
namespace {

using testing::HasSubstr;

BackendOptions options(std::string provider) {
  BackendOptions out;
  out.provider = std::move(provider);
  out.intra_op_threads = 1;
  return out;
}

std::vector<TensorData> inputs_for(const Backend& backend) {
  std::vector<TensorData> data;
  for (const TensorInfo& info : backend.inputs()) {
    TensorData tensor{info.name, info.type, info.shape, {}};
    std::size_t count = 1;
    for (auto& size : tensor.shape) count *= static_cast<std::size_t>(size = std::max<std::int64_t>(size, 1));
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i % 1000));
    tensor.bytes.resize(count * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    data.push_back(std::move(tensor));
  }
  return data;
}

std::vector<float> first_output(Backend& backend, const std::vector<TensorData>& inputs) {
  EXPECT_TRUE(backend.bind(inputs));
  const auto ran = backend.run_once();
  EXPECT_TRUE(ran) << ran.error().text();
  const auto outputs = backend.read_outputs();
  if (!ran || !outputs || outputs->empty()) return {};
  std::vector<float> values(outputs->front().bytes.size() / sizeof(float));
  std::memcpy(values.data(), outputs->front().bytes.data(), values.size() * sizeof(float));
  return values;
}

class OpencvEngine : public testing::Test {
 protected:
  void SetUp() override {
    const auto entered = open_model("/nowhere.onnx", options(std::string(kProvider)), program());
    if (!entered && entered.error().message.find("does not include") != std::string::npos)
      GTEST_SKIP() << "this build does not include the OpenCV engine (libopencv-dnn-dev)";
  }
  // A program in the bin folder of this build.
  static std::string program() {
    return core::join_path(core::parent_path(core::parent_path(core::executable_path())), "bin/aaco");
  }
  std::string model(const std::string& name) {
    const auto entry = zoo::find(name);
    EXPECT_TRUE(entry);
    return zoo::make(**entry, {}, 1, folder_.path()).value();
  }
  auto open(const std::string& name) { return open_model(model(name), options(std::string(kProvider)), program()); }
  std::string refusal(const BackendOptions& asked) {
    const auto opened = open_model(model("mlp"), asked, program());
    return opened ? "" : opened.error().message;
  }
  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make(testing::TempDir(), "opencv").value();
};

// OpenCV and ONNX Runtime are independent implementations: what they agree on is right.
void expect_agreement(Backend& engine, const std::string& path) {
  const auto environment = core::Environment::of_process();
  const auto runtime = ort::Runtime::open({{}, environment, core::Paths::find(environment, core::executable_path())});
  if (!runtime) GTEST_SKIP() << "no ONNX Runtime library on this machine";
  const auto other = (*runtime)->open_model(path, options("CPUExecutionProvider"));
  ASSERT_TRUE(other) << other.error().text();
  const auto inputs = inputs_for(**other);
  const auto ours = first_output(engine, inputs), theirs = first_output(**other, inputs);
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_FALSE(ours.empty());
  double error = 0, power = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(ours[i]) - theirs[i]));
    power += static_cast<double>(theirs[i]) * theirs[i];
  }
  EXPECT_LT(error, 1e-3 * std::sqrt(power / static_cast<double>(theirs.size())));
}

TEST_F(OpencvEngine, AgreesWithOnnxRuntime) {
  for (const char* name : {"mlp", "squeezenet1.1", "resnet18"}) {
    SCOPED_TRACE(name);
    auto engine = open(name);
    ASSERT_TRUE(engine) << engine.error().text();
    expect_agreement(**engine, model(name));
  }
}
TEST_F(OpencvEngine, DescribesItself) {
  const auto engine = open("mlp");
  ASSERT_TRUE(engine) << engine.error().text();
  const auto described = (*engine)->describe();
  EXPECT_EQ(described["runtime"].text(), "opencv");
  EXPECT_GT(described["nodes_by_provider"]["OpenCVDNN"].as_i64().value_or(0), 0);
}
TEST_F(OpencvEngine, RefusesModelsWithIntegerInputs) {
  const auto engine = open("llama-tiny");
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("int64 inputs"));
}
TEST_F(OpencvEngine, RefusesDamagedFiles) {
  const std::string path = core::join_path(folder_.path(), "damaged.onnx");
  ASSERT_TRUE(core::write_file_atomic(path, "no model"));
  EXPECT_FALSE(open_model(path, options(std::string(kProvider)), program()));
}
TEST_F(OpencvEngine, RefusesWhatItDoesNotHave) {
  auto asked = options(std::string(kProvider));
  asked.profile = true;
  EXPECT_THAT(refusal(asked), HasSubstr("--profile"));
  asked = options(std::string(kProvider));
  asked.session_options["memory_arena"] = "off";
  EXPECT_THAT(refusal(asked), HasSubstr("memory_arena"));
  asked = options(std::string(kProvider));
  asked.provider_options["a"] = "b";
  EXPECT_THAT(refusal(asked), HasSubstr("provider option 'a'"));
}
TEST(OpencvLibrary, MissingIsUnsupported) {
  const auto opened = open_model("/nowhere.onnx", options(std::string(kProvider)), "/nowhere/bin/aaco");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, core::ErrorCode::unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("does not include the OpenCV engine"));
}

}  // namespace
}  // namespace aaco::runner::opencv
