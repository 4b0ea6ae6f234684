#include "analytics/short_name.h"

#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::analytics::fingerprint {
namespace {

std::string short_of(std::string_view name) {
  static const auto book = PatternBook::load(AACO_SOURCE_DIR "/data/kernels").value();
  const auto print = book.classify(name);
  return short_name({name, print.family, print.parameters});
}

TEST(ShortName, OfTensile) {
  EXPECT_EQ(short_of("Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x128x32_MI16x16x1_SN_K1"), "GEMM bf16 MT256x128x32");
  EXPECT_EQ(short_of("Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1.kd"), "GEMM f32 MT64x64x16");
}
TEST(ShortName, OfCutlass) {
  EXPECT_EQ(short_of("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align8>(Params)"),
            "GEMM bf16 MT256x128x64");
  EXPECT_EQ(short_of("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(Params)"),
            "GEMM tf32 MT128x256x16");
  EXPECT_EQ(short_of("ampere_sgemm_128x64_tn"), "GEMM f32 MT128x64");
  EXPECT_EQ(short_of("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel"),
            "GEMM f16 MT128x128x32");
}
TEST(ShortName, OfAsmConvolution) {
  EXPECT_EQ(short_of("igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_wt32x32x8_ws1x1_wr2x2"), "Conv fwd bf16 MT256x128x16");
}
TEST(ShortName, OtherFamiliesHaveNone) {
  EXPECT_EQ(short_of("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)"), "");
  EXPECT_EQ(short_of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), "");
  EXPECT_EQ(short_of(""), "");
}
TEST(ShortName, NeitherTypeNorTileYieldsAnEmptyName) { EXPECT_EQ(short_name({"gemm_kernel", Family::gemm, {}}), ""); }
TEST(ShortName, TypesOfTemplateArgumentsDoNotCount) {
  EXPECT_EQ(short_name({"void gemm_like<half, float>(half*)", Family::gemm, {}}), "");
}
TEST(ShortName, UnusualParametersAreNoTrouble) {
  EXPECT_EQ(short_name({"x", Family::gemm, core::Json::object({{"tile", "wide"}})}), "");
  EXPECT_EQ(short_name({"x", Family::gemm, core::Json::object({{"input_type", "odd"}})}), "GEMM odd");
}

NamedKernel tiled(std::string_view name, bool a) {
  return {name, Family::gemm, core::Json::object({{"input_type", "bf16"}, {"transpose_a", a}, {"transpose_b", false}})};
}
using Names = std::vector<std::string>;
TEST(ShortNames, EqualOnesGetTheirTransposes) {
  EXPECT_EQ(short_names(std::vector{tiled("p", true), tiled("q", false)}), (Names{"GEMM bf16 TN", "GEMM bf16 NN"}));
}
TEST(ShortNames, ThenANumberInOrder) {
  EXPECT_EQ(short_names(std::vector{tiled("z", true), tiled("a", true)}), (Names{"GEMM bf16 TN #1", "GEMM bf16 TN #2"}));
}
TEST(ShortNames, OneKernelTwiceHasOneName) {
  EXPECT_EQ(short_names(std::vector{tiled("p", true), tiled("p", true)}), (Names{"GEMM bf16", "GEMM bf16"}));
}
TEST(ShortNames, NoneStaysNone) {
  EXPECT_EQ(short_names(std::vector{NamedKernel{"a", Family::other, {}}, NamedKernel{"b", Family::other, {}}}), (Names{"", ""}));
}

}  // namespace
}  // namespace aaco::analytics::fingerprint
