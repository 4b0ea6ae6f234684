#include "estimation/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimation/serving/config_testing.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;

constexpr const char* kShipped = AACO_SOURCE_DIR "/data/architectures/decoders.yaml";
using namespace testing_config;

DecoderArchitecture shipped(const std::string& name) {
  static const auto all = *load_decoders(kShipped);
  const auto* found = find_decoder(all, name);
  if (found == nullptr) return {};
  DecoderArchitecture model = *found;
  if (const auto* family = families().find(model.family)) model.other = other_parameters(model, *family, {});
  return model;
}
double billions(const std::string& name) { return shipped(name).parameters() / 1e9; }

TEST(Decoder, ParametersAreThePublishedOnes) {
  EXPECT_NEAR(billions("Llama-3-8B"), 8.03, 0.01);
  EXPECT_NEAR(billions("llama2-70b"), 68.98, 0.05);
  EXPECT_NEAR(billions("Llama-3.1-405B"), 405.9, 0.5);
  EXPECT_NEAR(billions("Mixtral-8x7B"), 46.7, 0.1);
  EXPECT_NEAR(billions("Qwen3-32B"), 32.8, 0.1);
  EXPECT_NEAR(billions("Qwen3-235B-A22B"), 235.1, 0.5);
  EXPECT_NEAR(billions("DeepSeek-V3"), 671, 1);
  EXPECT_NEAR(billions("gpt-oss-120b"), 116.8, 0.3);
  EXPECT_NEAR(billions("gpt-oss-20b"), 20.9, 0.2);
  EXPECT_NEAR(billions("GPT-J-6B"), 6.05, 0.05);
  EXPECT_NEAR(billions("Gemma-2-9B"), 9.24, 0.05);
  EXPECT_NEAR(billions("Phi-4"), 14.66, 0.05);
}
TEST(Decoder, ATokenVisitsSomeExperts) {
  EXPECT_NEAR(shipped("Qwen3-235B-A22B").active_parameters() / 1e9, 22.2, 0.5);
  EXPECT_NEAR(shipped("DeepSeek-R1").active_parameters() / 1e9, 37.6, 0.5);
  EXPECT_EQ(shipped("Llama-3-8B").active_parameters(), shipped("Llama-3-8B").parameters());
}
TEST(Decoder, LatentAttentionCachesOneVectorPerToken) {
  EXPECT_EQ(shipped("DeepSeek-V3").cached_values(), 512 + 64);
  EXPECT_EQ(shipped("Llama-3-8B").cached_values(), 2 * 8 * 128);
}
TEST(Decoder, NamesIgnoreCaseAndOwner) {
  EXPECT_EQ(shipped("meta-llama/llama-3.1-70b").name, "Llama-3.1-70B");
  EXPECT_EQ(shipped("nosuch").name, "");
}
TEST(Decoder, EndingsOfPublishedNamesSayTheirWeights) {
  const auto type = [](const std::string& name) {
    static const auto all = *load_decoders(kShipped);
    const auto found = find_published(all, name);
    return found ? found->name + " " + found->weight_type : "none";
  };
  EXPECT_EQ(type("Qwen/Qwen3-32B-FP8"), "Qwen3-32B fp8");
  EXPECT_EQ(type("Qwen2.5-72B-Instruct-AWQ"), "Qwen2.5-72B-Instruct int4");
  EXPECT_EQ(type("Mixtral-8x7B-Instruct"), "Mixtral-8x7B bf16");
  EXPECT_EQ(type("Llama-3.3-70B"), "Llama-3.1-70B bf16");
  EXPECT_EQ(type("nosuch-FP8"), "none");
  EXPECT_EQ(type("-FP8"), "none");
}

TEST(DecoderConfig, Llama) {
  const auto model = read(kLlama);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->head_dim, 128);
  EXPECT_EQ(model->kv_heads, 8);
  EXPECT_EQ(model->weight_type, "bf16");
  EXPECT_NEAR(model->parameters() / 1e9, 8.03, 0.01);
}
TEST(DecoderConfig, HeadsWithoutGroupsHaveKeysEach) { EXPECT_EQ(llama(R"({"num_key_value_heads": null})")->kv_heads, 32); }
TEST(DecoderConfig, MixtureOfExperts) {
  const auto model =
      llama(R"({"model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
                               "head_dim": 64})");
  ASSERT_TRUE(model && model->experts);
  EXPECT_EQ(model->experts->count, 128);
  EXPECT_EQ(model->experts->intermediate, 768);
  EXPECT_EQ(model->expert_layers(), 32);
  EXPECT_EQ(model->head_dim, 64);
}
TEST(DecoderConfig, DeepSeek) {
  const auto model =
      llama(R"({"model_type": "deepseek_v3", "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
       "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
       "qk_nope_head_dim": 128, "v_head_dim": 128, "quantization_config": {"quant_method": "fp8"}})");
  ASSERT_TRUE(model && model->latent) << refusal(model);
  EXPECT_EQ(model->experts->dense_layers, 3);
  EXPECT_EQ(model->experts->shared_intermediate, 2048);
  EXPECT_EQ(model->weight_type, "fp8");
}
TEST(DecoderConfig, GptOssHasNarrowExpertsAndWindows) {
  const auto model = llama(
      R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "num_local_experts": 32, "experts_per_token": 4, "sliding_window": 128,
       "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
       "quantization_config": {"quant_method": "mxfp4"}})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->expert_type, "mxfp4");
  EXPECT_EQ(model->weight_type, "bf16");
  EXPECT_EQ(model->windowed_layers, 2);
}
TEST(DecoderConfig, SlidingWindowsMayBeOff) {
  EXPECT_EQ(llama(R"({"sliding_window": 4096})")->windowed_layers, 32);
  EXPECT_EQ(llama(R"({"sliding_window": 4096, "use_sliding_window": false})")->window, 0);
  EXPECT_EQ(llama(R"({"sliding_window": null})")->window, 0);
  EXPECT_EQ(llama(R"({"sliding_window": 1024, "sliding_window_pattern": 6})")->windowed_layers, 27);
}
TEST(DecoderConfig, QwensWindowsAreOffUnlessAskedFor) {
  const auto windowed = [](const char* more) {
    return llama(std::string(R"({"model_type": "qwen2", "sliding_window": 4096)") + more + "}")->windowed_layers;
  };
  EXPECT_EQ(windowed(""), 0);
  EXPECT_EQ(windowed(R"(, "use_sliding_window": true)"), 4);
  EXPECT_EQ(windowed(R"(, "use_sliding_window": true, "max_window_layers": 20)"), 12);
  EXPECT_EQ(windowed(R"(, "use_sliding_window": true, "max_window_layers": 64)"), 0);
}
TEST(DecoderConfig, FamiliesWithoutAListHaveTheirUsualWindows) {
  EXPECT_EQ(llama(R"({"model_type": "gpt_oss", "sliding_window": 128})")->windowed_layers, 16);
  EXPECT_EQ(llama(R"({"model_type": "cohere2", "sliding_window": 4096})")->windowed_layers, 24);
  EXPECT_EQ(llama(R"({"model_type": "mistral", "sliding_window": 4096})")->windowed_layers, 32);
}
TEST(DecoderConfig, LanguagePartOfAModelOfImages) {
  EXPECT_EQ(read(std::string(R"({"model_type": "gemma3", "text_config": )") + kLlama + "}")->layers, 32);
}
TEST(DecoderConfig, Gemma3LeavesOutItsDefaults) {
  const auto model = read(R"({"text_config": {"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560,
                               "intermediate_size": 10240, "sliding_window": 1024}})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->heads, 8);
  EXPECT_EQ(model->windowed_layers, 29);
  EXPECT_NEAR(model->parameters() / 1e9, 3.88, 0.05);
}
TEST(DecoderConfig, Llama4HasASharedExpert) {
  const auto model = read(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "num_hidden_layers": 48,
       "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
       "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1, "vocab_size": 202048}})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->experts->shared_intermediate, 8192);
  EXPECT_NEAR(model->parameters() / 1e9, 107.8, 0.5);
}
TEST(DecoderConfig, TablesAreTiedWhereTheFamilysDefaultSaysSo) {
  EXPECT_FALSE(read(kLlama)->tied_embeddings);
  EXPECT_TRUE(llama(R"({"model_type": "opt"})")->tied_embeddings);
  EXPECT_FALSE(llama(R"({"model_type": "opt", "tie_word_embeddings": false})")->tied_embeddings);
  const auto gpt2 =
      read(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257})");
  ASSERT_TRUE(gpt2) << refusal(gpt2);
  EXPECT_NEAR(gpt2->parameters() / 1e6, 124, 1);
}
TEST(DecoderConfig, FalconSharesOneKeyAndIsFourTimesAsWide) {
  const auto model = read(R"({"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
       "multi_query": true, "new_decoder_architecture": false, "vocab_size": 65024})");
  ASSERT_TRUE(model) << refusal(model);
  EXPECT_EQ(model->kv_heads, 1);
  EXPECT_NEAR(model->parameters() / 1e9, 6.92, 0.05);
}
TEST(DecoderConfig, RefusesLayersThatHaveNoEstimate) {
  EXPECT_THAT(refusal(llama(R"({"full_attention_interval": 4})")), HasSubstr("linear attention"));
  EXPECT_THAT(refusal(llama(R"({"num_hidden_layers": 1, "layer_types": ["linear_attention"]})")),
              HasSubstr("'linear_attention'"));
  EXPECT_THAT(refusal(llama(R"({"mamba_d_state": 16})")), HasSubstr("state-space"));
  EXPECT_THAT(refusal(llama(R"({"model_type": "mamba2"})")), HasSubstr("state-space"));
  EXPECT_THAT(refusal(llama(R"({"layer_types": ["full_attention"]})")), HasSubstr("1 entries for 32 layers"));
  EXPECT_THAT(refusal(llama(R"({"model_type": "bert"})")), HasSubstr("is an encoder"));
  EXPECT_TRUE(llama(R"({"model_type": "bert", "is_decoder": true})"));
}
TEST(DecoderConfig, RefusesEncoderDecoders) {
  for (const char* one : {R"({"is_encoder_decoder": true})", R"({"model_type": "t5", "is_encoder_decoder": true})",
                          R"({"model_type": "t5"})", R"({"model_type": "mt5"})", R"({"model_type": "bart"})",
                          R"({"num_encoder_layers": 6})", R"({"encoder_layers": 6})", R"({"num_decoder_layers": 6})"})
    EXPECT_THAT(refusal(llama(one)), HasSubstr("encoder-decoder models are not supported")) << one;
  EXPECT_THAT(refusal(llama(R"({"model_type": "t5", "is_encoder_decoder": false})")), HasSubstr("not supported"))
      << "its encoder";
  EXPECT_TRUE(llama(R"({"is_encoder_decoder": false})"));
  EXPECT_TRUE(llama(R"({"model_type": "bart", "encoder_layers": 6, "is_decoder": true, "is_encoder_decoder": false})"));
}
TEST(DecoderConfig, NamesTheMissingKey) {
  EXPECT_THAT(refusal(llama(R"({"hidden_size": null})")), HasSubstr("missing key \"hidden_size\""));
  EXPECT_THAT(refusal(llama(R"({"num_hidden_layers": null})")), HasSubstr("\"num_hidden_layers\""));
  EXPECT_THAT(refusal(llama(R"({"vocab_size": null})")), HasSubstr("\"vocab_size\""));
  EXPECT_THAT(refusal(llama(R"({"intermediate_size": null})")), HasSubstr("\"intermediate_size\""));
  EXPECT_THAT(refusal(llama(R"({"num_experts": 8})")), HasSubstr("\"num_experts_per_tok\""));
  EXPECT_THAT(refusal(llama(R"({"kv_lora_rank": 512})")), HasSubstr("\"qk_rope_head_dim\""));
  EXPECT_THAT(refusal(read("{}")), HasSubstr("missing key"));
}
TEST(DecoderConfig, RefusesInvalidSizes) {
  EXPECT_THAT(refusal(llama(R"({"hidden_size": -1})")), HasSubstr("not a valid size"));
  EXPECT_THAT(refusal(llama(R"({"hidden_size": "x"})")), HasSubstr("not a valid size"));
  EXPECT_THAT(refusal(llama(R"({"hidden_size": 9000000000000000000})")), HasSubstr("not a valid size"));
  EXPECT_THAT(refusal(llama(R"({"num_attention_heads": 0})")), HasSubstr("not a valid size"));
  EXPECT_THAT(refusal(llama(R"({"num_key_value_heads": 5})")), HasSubstr("not a multiple"));
  EXPECT_THAT(refusal(llama(R"({"num_key_value_heads": 0})")), HasSubstr("key-value heads"));
  EXPECT_THAT(refusal(llama(R"({"num_experts": 8, "num_experts_per_tok": 9})")), HasSubstr("experts per token"));
  EXPECT_THAT(refusal(llama(R"({"n_shared_experts": 9000000000000000000, "num_experts": 8, "num_experts_per_tok": 2})")),
              HasSubstr("n_shared_experts"));
}
TEST(DecoderConfig, RefusesOtherModels) {
  EXPECT_THAT(refusal(llama(R"({"is_encoder_decoder": true})")), HasSubstr("encoder-decoder"));
  EXPECT_THAT(refusal(read("[1]")), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(llama(R"({"quantization_config": {"quant_method": "new"}})")),
              HasSubstr("unknown quantization method 'new'"));
}
TEST(DecoderFile, AliasesHaveTheContextAndTheWindowOfTheirOwnConfiguration) {
  const auto facts = [](const std::string& name) {
    const DecoderArchitecture one = shipped(name);
    return std::vector<std::int64_t>{one.context, one.window, one.windowed_layers};
  };
  using Facts = std::vector<std::int64_t>;
  EXPECT_EQ(facts("Phi-3-mini-4k-instruct"), (Facts{4096, 2047, 32}));
  EXPECT_EQ(facts("Phi-3-mini-128k-instruct"), (Facts{131072, 0, 0}));
  EXPECT_EQ(facts("Meta-Llama-3-8B"), (Facts{8192, 0, 0}));
  EXPECT_EQ(facts("Llama-3.1-8B"), (Facts{131072, 0, 0}));
  EXPECT_EQ(facts("Meta-Llama-3-70B"), (Facts{8192, 0, 0}));
  EXPECT_EQ(facts("Llama-3.3-70B"), (Facts{131072, 0, 0}));
  EXPECT_EQ(facts("Mistral-7B-v0.1"), (Facts{32768, 4096, 32}));
  EXPECT_EQ(facts("Mistral-7B-v0.2"), (Facts{32768, 0, 0}));
  EXPECT_EQ(facts("Qwen2.5-7B-Instruct"), (Facts{32768, 0, 0}));
  EXPECT_EQ(facts("Qwen2.5-7B"), (Facts{131072, 0, 0}));
  EXPECT_EQ(shipped("Mixtral-8x22B-Instruct-v0.1").vocabulary, 32768);
  EXPECT_EQ(shipped("Mixtral-8x22B-v0.1").vocabulary, 32000);
}
TEST(DecoderFile, RefusesAMissingFile) { EXPECT_FALSE(load_decoders("/nosuch.yaml")); }

}  // namespace
}  // namespace aaco::estimation
