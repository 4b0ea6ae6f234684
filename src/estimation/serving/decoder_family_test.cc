#include "estimation/decoder_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/files.h"
#include "estimation/serving/config_testing.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;
using namespace testing_config;

// Parameters of the model with these sizes in the usual keys.
struct Sizes {
  const char* family;
  int layers, hidden, heads, kv_heads, head_dim, intermediate, vocabulary;
};
core::Result<DecoderArchitecture> sized(const Sizes& s, const std::string& members = "{}") {
  core::Json json = core::Json::object({{"model_type", s.family},
                                        {"num_hidden_layers", s.layers},
                                        {"hidden_size", s.hidden},
                                        {"num_attention_heads", s.heads},
                                        {"num_key_value_heads", s.kv_heads},
                                        {"head_dim", s.head_dim},
                                        {"intermediate_size", s.intermediate},
                                        {"vocab_size", s.vocabulary}});
  const core::Json more = *core::Json::parse(members);
  for (const auto& [key, value] : more.members()) json.set(key, value);
  return read_decoder(json, families(), "m");
}
double parameters(const core::Result<DecoderArchitecture>& model) {
  EXPECT_TRUE(model) << refusal(model);
  return model ? model->parameters() : 0;
}

// As published (safetensors' counts).
TEST(DecoderFamily, ParametersWithoutAGate) {
  EXPECT_EQ(parameters(sized({"nemotron", 96, 18432, 96, 8, 192, 73728, 256000})), 341'029'195'776);
  EXPECT_EQ(parameters(sized({"apertus", 32, 4096, 32, 8, 128, 21504, 131072})), 8'053'338'176);
  EXPECT_EQ(parameters(sized({"arcee", 36, 2560, 20, 4, 128, 18432, 128004})), 4'619'184'640);
  EXPECT_EQ(parameters(sized({"starcoder2", 32, 4608, 36, 4, 128, 18432, 49152})), 7'173'923'840);
  EXPECT_EQ(parameters(read(R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner": 24576,
       "n_positions": 8192, "vocab_size": 49152})")),
            15'517'456'384);
  EXPECT_EQ(parameters(read(R"({"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 512,
       "vocab_size": 40478})")),
            116'534'784);
}
TEST(DecoderFamily, ParametersWithTheTablesOfTheClass) {
  EXPECT_EQ(parameters(sized({"smollm3", 36, 2048, 16, 4, 128, 11008, 128256})), 3'075'098'624);
  EXPECT_EQ(parameters(sized({"ernie4_5", 18, 1024, 16, 2, 128, 3072, 103424})), 360'748'032);
  EXPECT_EQ(parameters(sized({"minicpm", 40, 2304, 36, 36, 64, 5760, 122753})), 2'724'880'896);
  EXPECT_EQ(parameters(read(R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24,
       "num_attention_heads": 16, "vocab_size": 50272, "word_embed_proj_dim": 512, "do_layer_norm_before": false,
       "max_position_embeddings": 2048})")),
            331'196'416);
}
TEST(DecoderFamily, ParametersWithNormsAndBiasesOfTheirOwn) {
  EXPECT_EQ(parameters(sized({"olmo", 32, 4096, 32, 32, 128, 11008, 50304})), 6'888'095'744);
  EXPECT_EQ(parameters(sized({"olmo2", 32, 4096, 32, 32, 128, 11008, 100352})), 7'298'617'344);
  EXPECT_EQ(parameters(sized({"qwen2", 28, 3584, 28, 4, 128, 18944, 152064})), 7'615'616'512);
  EXPECT_EQ(parameters(sized({"qwen3", 36, 4096, 32, 8, 128, 12288, 151936})), 8'190'735'360);
  EXPECT_EQ(parameters(sized({"glm4", 40, 4096, 32, 2, 128, 13696, 151552})), 9'400'094'720);
  EXPECT_EQ(parameters(sized({"bitnet", 30, 2560, 20, 5, 128, 6912, 128256}, R"({"hidden_act": "relu2"})")), 2'412'820'480);
  EXPECT_EQ(parameters(sized({"qwen", 32, 4096, 32, 32, 128, 22016, 151936})), 7'721'324'544) << "half the size in the file";
}
TEST(DecoderFamily, ParametersOfFamiliesWithKeysOfTheirOwn) {
  EXPECT_EQ(parameters(read(R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
       "attn_config": {"kv_n_heads": 8}, "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})")),
            131'596'523'520);
  EXPECT_EQ(parameters(read(R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4,
       "vocab_size": 50432, "no_bias": true})")),
            6'649'286'656);
  EXPECT_EQ(parameters(read(R"({"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_layers": 28,
       "num_attention_heads": 32, "multi_query_attention": true, "multi_query_group_num": 2, "kv_channels": 128,
       "padded_vocab_size": 65024, "add_qkv_bias": true})")),
            6'243'584'000);
  EXPECT_EQ(parameters(read(R"({"model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads": 20,
       "intermediate_size": null, "vocab_size": 50257, "max_position_embeddings": 2048})")),
            2'651'307'520);
  EXPECT_EQ(parameters(read(R"({"model_type": "bloom", "n_embed": 14336, "num_attention_heads": 112, "n_layer": 70,
       "vocab_size": 250880})")),
            176'247'271'424);
  EXPECT_EQ(parameters(read(R"({"model_type": "xglm", "d_model": 1024, "ffn_dim": 4096, "num_layers": 24, "attention_heads": 16,
       "vocab_size": 256008})")),
            564'463'616);
}
TEST(DecoderFamily, ChatGlmWithoutGroupsHasKeysOfEveryHead) {
  EXPECT_EQ(read(R"({"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_layers": 28,
       "num_attention_heads": 32, "multi_query_attention": false, "multi_query_group_num": 2, "padded_vocab_size": 65024})")
                ->kv_heads,
            32);
}
TEST(DecoderFamily, PartsOfModelsOfImagesHaveTheDefaultsOfTheirClass) {
  const auto llava = read(R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
                              "vision_config": {"hidden_size": 1024}})");
  EXPECT_EQ(parameters(llava), 6'738'939'904);
  EXPECT_THAT(notes(llava), HasSubstr("only the language part"));
  const auto gemma =
      read(R"({"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text", "intermediate_size": [16384, 16384]}})");
  ASSERT_TRUE(gemma) << refusal(gemma);
  EXPECT_EQ(gemma->layers - gemma->shared_cache_layers, 20);
  EXPECT_NEAR(gemma->parameters(), 6.867e9, 1e6);
}
TEST(DecoderFamily, WhatAFileLacksIsTheClassDefaultAndSaid) {
  const auto mixtral = llama(R"({"model_type": "mixtral"})");
  ASSERT_TRUE(mixtral && mixtral->experts) << refusal(mixtral);
  EXPECT_EQ(mixtral->experts->count, 8);
  EXPECT_EQ(mixtral->experts->per_token, 2);
  EXPECT_THAT(notes(mixtral), HasSubstr("\"num_local_experts\" is not in the file: 8"));
  EXPECT_EQ(notes(read(kLlama)), "");
}
TEST(DecoderFamily, UnknownFamiliesAreCostedWithANote) {
  const auto frob = llama(R"({"model_type": "frobnicator"})");
  EXPECT_EQ(parameters(frob), parameters(read(kLlama)));
  EXPECT_THAT(notes(frob), HasSubstr("unknown family 'frobnicator': costed as a decoder with a gated MLP and untied embeddings"));
  EXPECT_FALSE(llama(R"({"model_type": "frobnicator", "hidden_act": "relu2"})")->gated);
  EXPECT_FALSE(llama(R"({"model_type": "frobnicator", "hidden_act": "xielu"})")->gated);
  EXPECT_THAT(notes(llama(R"({"model_type": null})")), HasSubstr("no \"model_type\""));
}
TEST(DecoderFamily, SaysWhyAFamilyIsRefused) {
  EXPECT_THAT(refusal(llama(R"({"model_type": "mamba"})")), HasSubstr("state-space models are not supported"));
  EXPECT_THAT(refusal(llama(R"({"model_type": "rwkv"})")), HasSubstr("state-space models are not supported"));
  EXPECT_THAT(refusal(llama(R"({"model_type": "mllama"})")), HasSubstr("cross-attention"));
  EXPECT_THAT(refusal(llama(R"({"model_type": "lfm2"})")), HasSubstr("short convolutions"));
  EXPECT_THAT(refusal(llama(R"({"intermediate_size": [1, 2]})")), HasSubstr("layers of different sizes"));
}
TEST(DecoderFamily, HeadsDivideTheHiddenSizeUnlessTheirSizeIsStated) {
  EXPECT_THAT(refusal(llama(R"({"hidden_size": 4100})")), HasSubstr("not a multiple of 32 attention heads"));
  EXPECT_TRUE(llama(R"({"hidden_size": 4100, "head_dim": 128})"));
}
TEST(DecoderFamily, LayersOfExpertsFollowTheFamilysKeys) {
  const auto dense = [](const std::string& more) {
    return llama(R"({"num_experts": 8, "num_experts_per_tok": 2)" + more + "}")->experts->dense_layers;
  };
  EXPECT_EQ(dense(""), 0);
  EXPECT_EQ(dense(R"(, "decoder_sparse_step": 2)"), 16);
  EXPECT_EQ(dense(R"(, "mlp_only_layers": [0, 5, 99])"), 2);
  EXPECT_EQ(dense(R"(, "first_k_dense_replace": 3)"), 3);
  EXPECT_EQ(dense(R"(, "moe_layer_start_index": 1, "moe_layer_end_index": -1)"), 1);
}
TEST(DecoderFamily, ContextIsScaledAsStacksDo) {
  const auto context = [](const std::string& scaling) {
    return llama(R"({"max_position_embeddings": 32768, )" + scaling + "}")->context;
  };
  EXPECT_EQ(context(R"("rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})"), 131072);
  EXPECT_EQ(context(R"("rope_scaling": {"rope_type": "yarn", "factor": 32, "original_max_position_embeddings": 4096})"), 131072);
  EXPECT_EQ(context(R"("rope_scaling": {"type": "linear", "factor": 2})"), 65536);
  EXPECT_EQ(context(R"("rope_scaling": {"rope_type": "dynamic", "factor": 2})"), 65536);
  EXPECT_EQ(context(R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192})"), 32768);
  EXPECT_EQ(context(R"("rope_scaling": {"type": "longrope", "original_max_position_embeddings": 4096})"), 32768);
  EXPECT_EQ(context(R"("rope_parameters": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 8192})"), 32768);
  EXPECT_EQ(context(R"("rope_scaling": null)"), 32768);
  EXPECT_THAT(refusal(llama(R"({"rope_scaling": {"type": "yarn", "factor": -4}})")), HasSubstr("factor of \"rope_scaling\""));
  EXPECT_THAT(refusal(llama(R"({"rope_scaling": "yarn"})")), HasSubstr("not an object"));
}

TEST(DecoderFamilies, FlagsAreConstantsOrKeys) {
  EXPECT_EQ(*parse_flag("true"), (ConfigFlag{"", true}));
  EXPECT_EQ(*parse_flag("attention_bias"), (ConfigFlag{"attention_bias", false}));
  EXPECT_EQ(*parse_flag("use_bias=true"), (ConfigFlag{"use_bias", true}));
  EXPECT_EQ(*parse_flag("!no_bias=true"), (ConfigFlag{"no_bias", true, true}));
  EXPECT_FALSE(parse_flag(""));
  EXPECT_FALSE(parse_flag("x=maybe"));
}
TEST(DecoderFamilies, RefusesAFileThatContradictsItself) {
  const auto refused = [](const std::string& list) {
    const core::TemporaryDirectory folder = *core::TemporaryDirectory::make(testing::TempDir());
    const std::string path = folder.path() + "/families.yaml";
    std::ofstream(path) << "schema: 1\nsource: x\nfamilies:\n" + list;
    const auto loaded = load_decoder_families(path);
    return loaded ? std::string("accepted") : loaded.error().text();
  };
  EXPECT_EQ(refused("  - {types: [a]}\n"), "accepted");
  EXPECT_THAT(refused("  - {types: [a]}\n  - {types: [a]}\n"), HasSubstr("duplicate family 'a'"));
  EXPECT_THAT(refused("  - {types: [a], qk_norm: some}\n"), HasSubstr("invalid qk_norm"));
  EXPECT_THAT(refused("  - {types: [a], defaults: {widths: 3}}\n"), HasSubstr("widths"));
  EXPECT_THAT(refused("  - {types: [a], mlp_bias: \"x=1\"}\n"), HasSubstr("invalid flag"));
  EXPECT_FALSE(load_decoder_families("/nosuch.yaml"));
}

}  // namespace
}  // namespace aaco::estimation
