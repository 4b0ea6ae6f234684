#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimation/serving.h"
#include "estimation/serving/config_testing.h"
#include "tests/support/shipped_device.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace testing_config;

class ServedTypes : public testing::Test {
 protected:
  ServedTypes() { request_.load = {1024, 128}; }
  core::Result<ServingEstimate> of(const core::Result<DecoderArchitecture>& model, const std::string& device) {
    EXPECT_TRUE(model) << refusal(model);
    return estimate_serving(*model, hardware::shipped_device(device), request_, rules_);
  }
  std::string notes_of(const core::Result<DecoderArchitecture>& model, const std::string& device) {
    const auto e = of(model, device);
    EXPECT_TRUE(e) << e.error().text();
    std::string out;
    if (e)
      for (const std::string& note : e->notes) out += note + "\n";
    return out;
  }
  ServingRules rules_ = *load_serving_rules(AACO_SOURCE_DIR "/data/rules/serving.yaml");
  ServingRequest request_;
};

constexpr const char* kSmall =
    R"({"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true, "torch_dtype": "TYPE"})";
std::string small(const std::string& type, const std::string& more = "") {
  std::string text = kSmall;
  text.replace(text.find("TYPE"), 4, type);
  return text.insert(text.size() - 1, more);
}

TEST_F(ServedTypes, SaysWhatTheDeviceDoesNotMultiply) {
  for (const char* device : {"nvidia_t4_pcie_16gb", "nvidia_v100_sxm2_16gb"}) {
    EXPECT_THAT(notes_of(read(small("bfloat16")), device), HasSubstr("has no bfloat16 units")) << device;
    EXPECT_THAT(notes_of(read(small("float16")), device), Not(HasSubstr("bfloat16"))) << device;
    EXPECT_EQ(of(read(small("float16")), device)->cache_type, "fp16") << device;
  }
  request_.weight_type = "fp8";
  EXPECT_THAT(notes_of(read(small("bfloat16")), "nvidia_a100_sxm4_80gb"), HasSubstr("does not multiply fp8"));
  EXPECT_THAT(notes_of(read(small("bfloat16")), "nvidia_h100_sxm5_80gb"), Not(HasSubstr("does not multiply")));
  request_.weight_type = "int4";  // by its methods weights alone are narrow, on any device
  EXPECT_THAT(notes_of(read(small("bfloat16")), "nvidia_a100_sxm4_80gb"), Not(HasSubstr("does not multiply")));
}
TEST_F(ServedTypes, MemoryIsWhatTheDriverShows) {
  EXPECT_EQ(of(read(small("float16")), "nvidia_l4_pcie_24gb")->memory.device_bytes, 23034.0 * 1024 * 1024);
  EXPECT_EQ(of(read(small("float16")), "nvidia_h100_sxm5_80gb")->memory.device_bytes, 80.0 * 1024 * 1024 * 1024);
}
TEST_F(ServedTypes, WhatDoesNotFitIsSaidWithAllItsParts) {
  const auto refused = [&](const char* device) {
    const auto made = of(llama(R"({"torch_dtype": "float16"})"), device);
    return made ? std::string("accepted") : made.error().text();
  };
  const std::string t4 = refused("nvidia_t4_pcie_16gb");
  EXPECT_THAT(
      t4,
      HasSubstr("weights 15.0 GiB, runtime 1.9 GiB and one request's cache 0.14 GiB per GPU are 17.0 GiB, of 13.5 GiB usable"));
  EXPECT_THAT(t4, Not(HasSubstr("fp8")));
  EXPECT_THAT(t4, HasSubstr("--dtype int4"));
}
TEST_F(ServedTypes, ExceptionsOfTheQuantisationTakeSixteenBits) {
  const auto bytes = [&](const std::string& config) {
    return of(llama(R"({"quantization_config": )" + config + "}"), "nvidia_h100_sxm5_80gb")->memory.weight_bytes;
  };
  const double attention = 32.0 * (2 * 4096 * 4096 + 2 * 4096 * 1024), dense = 32.0 * 3 * 4096 * 14336,
               plain = 2 * (2 * 128256.0 * 4096 + 65 * 4096);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]})"), plain + attention + dense);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head", "self_attn"]})"),
                   plain + 2 * attention + dense);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 32})"), plain + 0.5625 * (attention + dense));
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": []})"),
                   plain + attention + dense - 128256.0 * 4096);
  request_.weight_type = "bf16";  // asked for: nothing of the quantisation is left
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 32})"), plain + 2 * (attention + dense));
}
TEST_F(ServedTypes, TheConfigurationsCacheCountsUnlessAnotherIsAskedFor) {
  const auto model = llama(R"({"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized",
                               "kv_cache_scheme": {"num_bits": 8, "type": "float"}}})");
  EXPECT_EQ(of(model, "nvidia_h100_sxm5_80gb")->cache_type, "fp8");
  request_.cache_type = "bf16";
  EXPECT_EQ(of(model, "nvidia_h100_sxm5_80gb")->cache_type, "bf16");
}
TEST_F(ServedTypes, WindowsArePartOfTheCache) {
  request_.load.input_tokens = 8064;
  const auto e = of(llama(R"({"sliding_window": 1024, "sliding_window_pattern": 4})"), "nvidia_h100_sxm5_80gb");
  const double one = 2 * 8 * 128 * 2;
  EXPECT_EQ(e->memory.full_cache_bytes_per_token, 8 * one);
  EXPECT_EQ(e->memory.windowed_cache_bytes_per_token, 24 * one);
  EXPECT_DOUBLE_EQ(e->memory.cache_bytes_per_token, 8 * one + 24 * one * 1024 / 8128);
  const core::Json memory = to_json(*e)["memory"];
  EXPECT_EQ(memory["window"]["tokens"].as_i64(), 1024);
  for (const auto& [name, value] : memory.members()) EXPECT_TRUE(value.is_object() || value.as_i64()) << name;
}
TEST_F(ServedTypes, FullPrecisionIsKeptWhereItIsAskedFor) {
  request_.weight_type = "fp32";
  const auto e = of(read(small("float32")), "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_NEAR(e->memory.weight_bytes, 4 * 1'235'814'400.0, 1);
}

}  // namespace
}  // namespace aaco::estimation
