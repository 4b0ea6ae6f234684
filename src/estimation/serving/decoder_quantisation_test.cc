#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimation/serving/config_testing.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;
using namespace testing_config;

TEST(DecoderQuantisation, QuantisedWeights) {
  const auto type = [](const std::string& config) { return llama(R"({"quantization_config": )" + config + "}")->weight_type; };
  EXPECT_EQ(type(R"({"quant_method": "awq", "bits": 4})"), "int4");
  EXPECT_EQ(type(R"({"quant_method": "gptq", "bits": 8})"), "int8");
  EXPECT_EQ(type(R"({"quant_method": "compressed-tensors", "format": "float-quantized"})"), "fp8");
  EXPECT_EQ(type(R"({"quant_method": "compressed-tensors", "format": "pack-quantized"})"), "int4");
  EXPECT_EQ(type(R"({"quant_algo": "FP8"})"), "fp8");
}
TEST(DecoderQuantisation, CompressedTensorsStatesBitsAndTypeInItsGroups) {
  const auto of = [](const std::string& weights, const std::string& format = "pack-quantized") {
    return llama(R"({"quantization_config": {"quant_method": "compressed-tensors", "format": ")" + format +
                 R"(", "config_groups": {"group_0": {"weights": )" + weights + "}}}}");
  };
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "float"})")->weight_type, "fp8");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "int"})")->weight_type, "int8");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "int"})")->weight_type, "int4");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "float"})", "nvfp4-pack-quantized")->weight_type, "nvfp4");
  EXPECT_THAT(refusal(of(R"({"num_bits": 3, "type": "int"})")), HasSubstr("3 bits"));
}
TEST(DecoderQuantisation, QuarkStatesTheTypeOfTheWeights) {
  const auto quark = [](const std::string& weight) {
    return llama(R"({"quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": )" + weight + "}}}");
  };
  EXPECT_EQ(quark(R"({"dtype": "fp8_e4m3"})")->weight_type, "fp8");
  EXPECT_EQ(quark(R"({"dtype": "fp4", "group_size": 32})")->weight_type, "mxfp4");
  EXPECT_EQ(quark(R"([{"dtype": "int4"}])")->weight_type, "int4");
  EXPECT_THAT(refusal(quark(R"({"dtype": "int3"})")), HasSubstr("unknown weight type 'int3'"));
  EXPECT_THAT(refusal(quark("[]")), HasSubstr("unknown weight type ''"));
}
TEST(DecoderQuantisation, RefusesWeightsItCannotCost) {
  EXPECT_THAT(refusal(llama(R"({"quantization_config": {"quant_method": "gptq", "bits": 3}})")), HasSubstr("3 bits"));
  EXPECT_THAT(refusal(llama(R"({"quantization_config": {"quant_method": "awq", "bits": 0}})")), HasSubstr("0 bits"));
  EXPECT_THAT(refusal(llama(R"({"quantization_config": "fp8"})")), HasSubstr("not an object"));
}

TEST(DecoderQuantisation, ModulesThatAreNotConvertedKeepSixteenBits) {
  const auto kept = [](const std::string& modules) {
    const auto model =
        llama(R"({"quantization_config": {"quant_method": "fbgemm_fp8", "modules_to_not_convert": )" + modules + "}}");
    return model ? model->kept : KeptShares{-1};
  };
  EXPECT_EQ(kept(R"(["lm_head"])").attention, 0);
  EXPECT_EQ(kept(R"(["lm_head", "self_attn"])").attention, 1);
  EXPECT_NEAR(kept(R"(["model.layers.0.self_attn", "model.layers.0.mlp"])").attention, 1.0 / 32, 1e-12);
  EXPECT_NEAR(kept(R"(["model.layers.*.self_attn.k_proj", "model.layers.*.self_attn.v_proj"])").attention, 0.2, 1e-12);
  EXPECT_NEAR(kept(R"(["model.layers.1.mlp.down_proj"])").dense, 1.0 / 96, 1e-12);
  EXPECT_EQ(kept(R"(["model.layers.1"])").dense, 1.0 / 32);
  EXPECT_EQ(kept("[7, null]").dense, 0) << "entries that are no names";
}
TEST(DecoderQuantisation, OnlyTheExpertsMayBeConverted) {
  const auto model =
      llama(R"({"model_type": "deepseek_v3", "n_routed_experts": 64, "num_experts_per_tok": 8, "n_shared_experts": 1,
       "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "quantization_config": {"quant_method": "compressed-tensors",
       "format": "pack-quantized", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32},
       "targets": ["Linear"]}}, "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
       "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]}})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->weight_type, "bf16");
  EXPECT_EQ(model->expert_type, "int4");
  EXPECT_DOUBLE_EQ(model->packed_bytes, 0.5 + 2.0 / 32);
  EXPECT_EQ(model->kept, KeptShares());
}
TEST(DecoderQuantisation, ScalesFollowTheGroups) {
  const auto bytes = [](const std::string& config) {
    const auto model = llama(R"({"quantization_config": )" + config + "}");
    return model ? model->packed_bytes : -1;
  };
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 32})"), 0.5 + 2.0 / 32);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": false})"), 0.5 + 2.5 / 128);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": -1})"), 0.5);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": true})"), 0.5 + 2.5 / 64);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"), 0.5625);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true})"),
                   0.5 + (1 + 4.0 / 256) / 64);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})"), 1 + 4.0 / 16384);
  EXPECT_EQ(bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 0})"), -1);
  EXPECT_EQ(bytes(R"({"quant_method": "fp8", "weight_block_size": [128]})"), -1);
}
TEST(DecoderQuantisation, TheHeadIsConvertedUnlessAnExceptionNamesIt) {
  const auto head = [](const std::string& ignore) {
    return llama(R"({"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8")" + ignore + "}}")->kept.head;
  };
  EXPECT_EQ(head(R"(, "ignore": ["lm_head"])"), 1);
  EXPECT_EQ(head(R"(, "ignore": [])"), 0);
  EXPECT_EQ(head(""), 1) << "no list: as usual";
  EXPECT_EQ(llama(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "lm_head": true}})")->kept.head, 0);
}
TEST(DecoderQuantisation, TheCacheMayBeNarrowAsWell) {
  const auto cache = [](const std::string& more) {
    return llama(R"({"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized")" + more + "}}")
        ->cache_type;
  };
  EXPECT_EQ(cache(R"(, "kv_cache_scheme": {"num_bits": 8, "type": "float"})"), "fp8");
  EXPECT_EQ(cache(R"(, "kv_cache_scheme": null)"), "");
}
TEST(DecoderQuantisation, SaysWhichExceptionsItDoesNotUnderstand) {
  const auto model = llama(R"({"quantization_config": {"quant_method": "fp8", "ignored_layers": ["re:^(?!.*experts).*"]}})");
  EXPECT_THAT(notes(model), HasSubstr("(?!.*experts)"));
  EXPECT_EQ(model->kept.attention, 0);
}
TEST(DecoderQuantisation, GroupsOfOtherTypesAreSaid) {
  const auto model = llama(R"({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
       "a": {"weights": {"num_bits": 8, "type": "float"}, "targets": ["re:.*self_attn.*"]},
       "b": {"weights": {"num_bits": 4, "type": "int", "group_size": 128}, "targets": ["re:.*mlp.*"]}}}})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->weight_type, "int4");
  EXPECT_THAT(notes(model), HasSubstr("several types"));
}
TEST(DecoderQuantisation, DataTypesAreKnownOrRefused) {
  EXPECT_EQ(llama(R"({"torch_dtype": "float16"})")->plain_type, "fp16");
  EXPECT_EQ(llama(R"({"torch_dtype": "torch.bfloat16"})")->weight_type, "bf16");
  EXPECT_THAT(notes(llama(R"({"torch_dtype": "float32"})")), HasSubstr("float32"));
  EXPECT_THAT(refusal(llama(R"({"torch_dtype": "floaty16"})")), HasSubstr("unknown data type 'floaty16'"));
  EXPECT_THAT(refusal(llama(R"({"torch_dtype": 16})")), HasSubstr("not a text"));
}

}  // namespace
}  // namespace aaco::estimation
