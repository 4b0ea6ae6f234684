#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "analytics/fingerprint.h"
#include "core/strings.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::fingerprint {
namespace {

const PatternBook& book() {
  static const PatternBook kBook = [] {
    auto loaded = PatternBook::load(AACO_SOURCE_DIR "/data/kernels");
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().text());
    return loaded ? std::move(*loaded) : PatternBook();
  }();
  return kBook;
}

struct Labelled {
  std::string part, family, library, name;
};

std::vector<Labelled> labelled_names() {
  std::ifstream file(AACO_SOURCE_DIR "/tests/fixtures/kernel_names.tsv");
  std::vector<Labelled> names;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto fields = core::split(line, '\t');
    EXPECT_EQ(fields.size(), 4u) << line;
    if (fields.size() == 4)
      names.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3])});
  }
  return names;
}

// The share classified right, family and library; the wrong ones go to the log.
double share_right(std::string_view part) {
  double right = 0, all = 0;
  for (const Labelled& label : labelled_names()) {
    if (label.part != part) continue;
    const Fingerprint print = book().classify(label.name);
    const bool good = to_string(print.family) == label.family && print.library == label.library;
    ++all;
    right += good ? 1 : 0;
    if (!good)
      std::printf("  %s/%s, not %s/%s: %.120s\n", std::string(to_string(print.family)).c_str(), print.library.c_str(),
                  label.family.c_str(), label.library.c_str(), label.name.c_str());
  }
  std::printf("%.0f of %.0f %s names right\n", right, all, std::string(part).c_str());
  return all > 0 ? right / all : 0;
}

core::Status add(PatternBook& to, std::string_view text) {
  const auto document = core::YamlNode::parse(text, "test.yaml");
  EXPECT_TRUE(document.has_value());
  return to.add(*document);
}

core::Status load_text(std::string_view patterns) {
  PatternBook fresh;
  return add(fresh, "schema: 1\npatterns:\n" + std::string(patterns));
}

TEST(PatternBook, LabelsThreeHundredNamesAndMore) { EXPECT_GE(labelled_names().size(), 300u); }
TEST(PatternBook, KnownNamesAreRight) { EXPECT_GE(share_right("known"), 0.98); }
TEST(PatternBook, HeldOutNamesAreRight) { EXPECT_GE(share_right("held"), 0.98); }

std::string_view family(std::string_view name) { return to_string(book().classify(name).family); }

TEST(PatternBook, InductorsPrefixDecides) {
  EXPECT_EQ(family("triton_poi_fused_addmm_gelu_0"), "elementwise");
  EXPECT_EQ(family("triton_poi_fused__scaled_dot_product_efficient_attention_view_2"), "elementwise");
  EXPECT_EQ(family("triton_red_fused__scaled_dot_product_flash_attention_sum_3"), "reduction");
  EXPECT_EQ(family("triton_tem_fused_flex_attention_2"), "attention");
  EXPECT_EQ(family("triton_tem_fused_bmm_8"), "gemm");
}
TEST(PatternBook, ANamespaceDoesNotDecide) {
  EXPECT_EQ(family("void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)"), "copy_transpose");
  EXPECT_EQ(family("void fbgemm_gpu::batched_gemm_kernel<float>(int)"), "gemm");
}
TEST(PatternBook, ProductsByTheirPlainNames) {
  EXPECT_EQ(family("batched_matrix_multiplication_kernel(float*, float*)"), "gemm");
  EXPECT_EQ(family("bmm_shared_tiled(float const*)"), "gemm");
}
TEST(PatternBook, TritonKernelsOfServingStacks) {
  for (const char* name : {"post_reorder_triton_kernel", "kernel_paged_attention_2d", "alloc_extend_kernel", "_my_function"})
    EXPECT_EQ(book().classify(name).library, "Triton") << name;
  EXPECT_NE(book().classify("void vllm::merge_attn_states_kernel<float>(float*)").library, "Triton");
}
TEST(PatternBook, FillsAreOneFamily) {
  for (const auto* name :
       {"__amd_rocclr_fillBufferAligned", "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int> >",
        "void FillKernel<float>(float*, float)", "_combined_routing_memset"})
    EXPECT_EQ(family(name), "elementwise") << name;
  EXPECT_EQ(family("_paged_attn_prefill_kernel"), "attention");
}

TEST(PatternBook, DecorationsDoNotMatter) {
  EXPECT_EQ(book().classify("attn_fwd.kd"), book().classify("attn_fwd"));
  EXPECT_EQ(book().classify("void at::native::reduce_kernel<512>(int) [clone .kd]").family, Family::reduction);
}
TEST(PatternBook, UnknownNamesAreOther) {
  for (const auto* name : {"", " ", ".kd", "void ", "qwertz", "\xff\xfe"}) {
    EXPECT_EQ(book().classify(name).family, Family::other) << name;
    EXPECT_EQ(book().classify(name).library, "") << name;
  }
}
TEST(PatternBook, SearchesHugeNames) {
  EXPECT_EQ(book().classify(std::string(1 << 20, 'x')).family, Family::other);
  EXPECT_EQ(book().classify("Cijk_" + std::string(1 << 16, '_')).family, Family::gemm);
}

TEST(PatternBook, FirstPatternWins) {
  PatternBook fresh;
  ASSERT_TRUE(add(fresh,
                  "schema: 1\npatterns:\n"
                  "  - {id: a, any: [foo], family: gemm}\n  - {id: b, any: [foo], family: softmax, library: L}\n")
                  .has_value());
  EXPECT_EQ(fresh.classify("FOO").family, Family::gemm);
  EXPECT_EQ(fresh.classify("FOO").library, "L");
  EXPECT_EQ(fresh.classify("FOO").pattern, "a");
}
TEST(PatternBook, Refusals) {
  EXPECT_FALSE(load_text("  - {id: a, any: [x]}\n").has_value());               // says nothing
  EXPECT_FALSE(load_text("  - {id: a, family: gemm}\n").has_value());           // no condition
  EXPECT_FALSE(load_text("  - {id: a, any: [x], family: gem}\n").has_value());  // no such family
  EXPECT_FALSE(load_text("  - {id: a, any: [x], family: gemm, decoder: nope}\n").has_value());
  EXPECT_FALSE(load_text("  - {id: a, any: [''], family: gemm}\n").has_value());  // matches everything
  EXPECT_FALSE(load_text("  - {any: [x], family: gemm}\n").has_value());          // no id
  EXPECT_FALSE(load_text("  - {id: a, anyy: [x], family: gemm}\n").has_value());  // unknown key
  EXPECT_FALSE(load_text("  - {id: a, any: [x], family: gemm}\n  - {id: a, any: [y], family: rng}\n").has_value());
  PatternBook fresh;
  EXPECT_FALSE(add(fresh, "schema: 2\npatterns: []\n").has_value());
  EXPECT_FALSE(add(fresh, "schema: 1\npatterns: 3\n").has_value());
  EXPECT_FALSE(PatternBook::load(AACO_SOURCE_DIR "/data/nowhere").has_value());
}

std::string parameters(std::string_view name) { return book().classify(name).parameters.dump(-1); }

TEST(Decode, Tensile) {
  const auto json = decode_tensile("Cijk_Ailk_Bjlk_SB_MT128x64x16_MI32x32x2x1_SN_GSU4_ISA90a_WGM8");
  EXPECT_EQ(json["macro_tile"].dump(-1), "[128,64,16]");
  EXPECT_EQ(json["matrix_instruction"].dump(-1), "[32,32,2,1]");
  EXPECT_EQ(json["split_k"].as_i64(), 4);
  EXPECT_EQ(json["architecture"].text(), "gfx90a");
  EXPECT_EQ(json["input_type"].text(), "f32");
  EXPECT_EQ(json["compute_type"].text(), "f32");
  EXPECT_EQ(json["transpose_a"].as_bool(), false);
  EXPECT_EQ(json["transpose_b"].as_bool(), true);
}
TEST(Decode, HipblasltTypes) {
  const auto json = decode_tensile("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_GSUAMBSK_ISA942");
  EXPECT_EQ(json["input_type"].text(), "bf16");
  EXPECT_EQ(json["output_type"].text(), "bf16");
  EXPECT_EQ(json["compute_type"].text(), "f32");
  EXPECT_EQ(json["transpose_a"].as_bool(), true);
  EXPECT_EQ(json["split_k_algorithm"].text(), "MBSK");
  EXPECT_FALSE(json.contains("split_k"));
  EXPECT_EQ(decode_tensile("Cijk_Alik_Bljk_F8BS_BH_MT16x16x32")["input_type"].text(), "f8");
}
TEST(Decode, TensileRefusesInvalidNames) {
  EXPECT_TRUE(decode_tensile("hello").is_null());
  EXPECT_FALSE(decode_tensile("Cijk_Ailk_Bljk_SB_MT128xx16")["macro_tile"].is_array());
  EXPECT_FALSE(decode_tensile("Cijk_Ailk_Bljk_SB_MT99999999999999999999x1x1").contains("macro_tile"));
  EXPECT_FALSE(decode_tensile("Cijk_Ailk_Bljk_SB_GSUx").contains("split_k"));
}
TEST(Decode, Cutlass) {
  const auto json = decode_cutlass("cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(x)");
  EXPECT_EQ(json["tile"].dump(-1), "[256,128]");
  EXPECT_EQ(json["tile_k"].as_i64(), 64);
  EXPECT_EQ(json["stages"].as_i64(), 3);
  EXPECT_EQ(json["transpose_a"].as_bool(), true);
  EXPECT_EQ(decode_cutlass("volta_sgemm_64x32_sliced1x4_tn")["tile"].dump(-1), "[64,32]");
  EXPECT_TRUE(decode_cutlass("hello").is_null());
}
TEST(Decode, ComposableKernel) {
  const auto json = decode_ck("cfg1_moe_ck2stages_gemm2_128x16x128x64_1x2_MulABScale_v1_F8_F8_B16");
  EXPECT_EQ(json["block"].as_i64(), 128);
  EXPECT_EQ(json["tile"].dump(-1), "[16,128,64]");
  EXPECT_EQ(json["output_type"].text(), "B16");
  EXPECT_TRUE(decode_ck("moe_ck2stages_").is_null());
}
std::string operations(std::string_view name) { return book().classify(name).parameters["operations"].dump(-1); }

TEST(Decode, FusedNamesListAllTheyDo) {
  EXPECT_EQ(operations("triton_poi_fused__to_copy_addmm_gelu_0"), R"(["_to_copy","addmm","gelu"])");
  EXPECT_EQ(operations("triton_per_fused_add_addmm_native_layer_norm_view_5"), R"(["add","addmm","native_layer_norm","view"])");
  EXPECT_EQ(operations("triton_red_fused_native_layer_norm_native_layer_norm_backward_71"),
            R"(["native_layer_norm","native_layer_norm_backward"])");
  EXPECT_EQ(operations("mlir_reshape_dot_mul_softmax_dot"), R"(["reshape","dot","mul","softmax","dot"])");
  EXPECT_EQ(operations("mul_add_kernel"), R"(["mul","add"])");
}
TEST(Decode, FusedNamesThatSayNothing) {
  const std::set<std::string, std::less<>> none;
  EXPECT_TRUE(split_fused("", none).empty());
  EXPECT_TRUE(split_fused("_", none).empty());
  EXPECT_TRUE(split_fused("___", none).empty());
  EXPECT_EQ(split_fused("add__", none), std::vector<std::string_view>{"add"});
  EXPECT_TRUE(decode_fused("mlir_").is_null());
  EXPECT_FALSE(book().classify("gemm_kernel").parameters.contains("operations"));
}
TEST(PatternBook, OperatorsAloneAreAFile) {
  PatternBook fresh;
  EXPECT_TRUE(add(fresh, "schema: 1\noperators: [to_copy]\n").has_value());
  EXPECT_FALSE(add(fresh, "schema: 1\noperators: ['']\n").has_value());
  EXPECT_FALSE(add(fresh, "schema: 1\noperators: {to_copy: 1}\n").has_value());
  EXPECT_FALSE(add(fresh, "schema: 1\n").has_value());
}

TEST(Decode, TritonAndAssemblyConvolutions) {
  EXPECT_EQ(parameters("triton_poi_fused_add_cos_sin_0"),
            R"({"kind":"pointwise","fused":"add_cos_sin","operations":["add","cos","sin"]})");
  EXPECT_TRUE(decode_triton("triton").is_null());
  const auto json = decode_asm_conv("igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_wt32x32x8_gkgs");
  EXPECT_EQ(json["direction"].text(), "wrw");
  EXPECT_EQ(json["macro_tile"].dump(-1), "[256,128,16]");
}

}  // namespace
}  // namespace aaco::analytics::fingerprint
