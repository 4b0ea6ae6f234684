#include "estimation/latency.h"

#include <gtest/gtest.h>

#include "estimation/roofline.h"

namespace aaco::estimation {
namespace {

DeviceFacts device() {
  DeviceFacts facts;
  facts.id = "test";
  facts.compute_units = 100;
  facts.flops_per_s = {{"bf16", 100e12}, {"fp32", 10e12}};
  facts.vector_flops_per_s = 10e12;
  facts.memory_bytes_per_s = 1e12;
  return facts;
}

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::string type = "bf16") {
  return {GemmShape{1, m, n, k}, std::move(type)};
}

TEST(Work, GemmCountsAMultiplyAddAsTwo) {
  const Work work = work_of(gemm(2, 3, 5)).value();
  EXPECT_EQ(work.flops, 60);
  EXPECT_EQ(work.bytes, 2 * (10 + 15 + 6));
}

TEST(Work, AStrideWiderThanTheFilterPassesOverInput) {
  const auto bytes = [](std::int64_t filter, std::int64_t stride) {
    return work_of({ConvolutionShape{2, 8, 16, 16, 4, filter, filter, 0, 0, stride, stride}, "fp32"}).value().bytes;
  };
  EXPECT_EQ(bytes(1, 1), 4 * (2 * 8 * 16 * 16 + 4 * 8 + 2 * 4 * 16 * 16));
  EXPECT_EQ(bytes(1, 2), 4 * (2 * 8 * 8 * 8 + 4 * 8 + 2 * 4 * 8 * 8));
  EXPECT_EQ(bytes(2, 2), 4 * (2 * 8 * 16 * 16 + 4 * 8 * 4 + 2 * 4 * 8 * 8));
}

TEST(Work, EightBitProductsAreWrittenAsSixteen) { EXPECT_EQ(work_of(gemm(2, 3, 5, "fp8_block")).value().bytes, 10 + 15 + 12); }

TEST(Work, WeightsMayBeNarrowerThanActivations) {
  EXPECT_EQ(work_of(gemm(2, 3, 5, "int8_wo")).value().bytes, 2 * 10 + 15 + 2 * 6);
  EXPECT_EQ(work_of(gemm(2, 3, 5, "int4_wo")).value().bytes, 2 * 10 + 15 / 2.0 + 2 * 6);
  EXPECT_EQ(work_of(gemm(2, 3, 5, "w4afp8")).value().bytes, 10 + 15 / 2.0 + 2 * 6);
  EXPECT_EQ(work_of({ConvolutionShape{1, 8, 4, 4, 2, 1, 1}, "int8_wo"}).value().bytes, 2 * 8 * 16 + 8 * 2 + 2 * 2 * 16);
}

TEST(Work, ConvolutionOfAKnownLayer) {  // the first layer of ResNet-50: 118 M multiply-adds
  ConvolutionShape conv{1, 3, 224, 224, 64, 7, 7, 3, 3, 2, 2};
  EXPECT_EQ(conv.out_h(), 112);
  EXPECT_EQ(work_of({conv, "fp32"}).value().flops, 2.0 * 112 * 112 * 64 * 3 * 49);
}

TEST(Work, CausalAttentionCountsVisiblePairs) {
  EXPECT_EQ(work_of({AttentionShape{true, 1, 4, 0, 1, 1, 8, ""}, "bf16"}).value().flops, 4.0 * 10 * 8);
  EXPECT_EQ(work_of({AttentionShape{false, 1, 1, 9, 1, 1, 8, ""}, "bf16"}).value().flops, 4.0 * 10 * 8);
}

TEST(Work, AttentionOverAllPairsCountsThemAll) {
  AttentionShape encoder{true, 1, 4, 0, 1, 1, 8, ""};
  encoder.causal = false;
  EXPECT_EQ(work_of({encoder, "bf16"}).value().flops, 4.0 * 16 * 8);
  encoder.past = -3;  // four queries on the one key of a prompt
  EXPECT_EQ(work_of({encoder, "bf16"}).value().flops, 4.0 * 4 * 8);
  encoder.past = -4;
  EXPECT_FALSE(work_of({encoder, "bf16"}));
}

TEST(Work, RefusesTheImpossible) {
  EXPECT_FALSE(work_of(gemm(0, 3, 5)));
  EXPECT_FALSE(work_of(gemm(-1, 3, 5)));
  EXPECT_FALSE(work_of(gemm(2, 3, 5, "wide")));
  EXPECT_FALSE(work_of({ConvolutionShape{1, 3, 2, 2, 8, 3, 3}, "fp32"})) << "no output";
  EXPECT_FALSE(work_of({ConvolutionShape{1, 3, 8, 8, 8, 3, 3, 0, 0, 1, 1, 1, 1, 2}, "fp32"})) << "3 channels in 2 groups";
  EXPECT_FALSE(work_of({AttentionShape{true, 1, 4, 0, 3, 2, 8, ""}, "bf16"})) << "3 heads on 2";
  EXPECT_FALSE(work_of({AttentionShape{true, 1, 4, -1, 1, 1, 8, ""}, "bf16"})) << "causal, with fewer keys than queries";
  EXPECT_FALSE(work_of({OtherShape{"x", -1, 0}, "fp32"}));
}

TEST(Types, AliasesOfATypeAreEqual) {
  EXPECT_EQ(canonical_type("bfloat16"), "bf16");
  EXPECT_EQ(canonical_type(" BF16"), "bf16");
  EXPECT_EQ(element_of("fp8_block"), "fp8");
  EXPECT_EQ(element_of("a8w8_blockscale"), "fp8");
  EXPECT_EQ(element_of("float8e4m3fn"), "fp8");
  EXPECT_EQ(element_of("nvfp4"), "fp4");
  EXPECT_EQ(element_of("mxfp8_block"), "fp8");
  for (const char* name : {"float8_e4m3fn", "torch.float8_e4m3fnuz", "fp8_e5m2", "e4m3"}) EXPECT_EQ(canonical_type(name), "fp8");
  EXPECT_EQ(canonical_type("torch.half"), "fp16");
  EXPECT_EQ(canonical_type("fp8_block"), "fp8_block") << "a library's kernels, a class of their own";
  EXPECT_FALSE(element_of("string"));
}

TEST(Types, WeightsAloneAreWidenedBeforeTheyAreMultiplied) {
  for (const char* name : {"int8_wo", "INT4_WO", "int4_awq", "fp8_weight_only", "w4a16_mxfp4", "w8a16", "a16w4"})
    EXPECT_EQ(element_of(name), "bf16") << name;
  EXPECT_EQ(element_of("w4afp8"), "fp8");
  for (const char* name : {"sq", "w8a8_dynamic", "w4a8_awq"}) EXPECT_EQ(element_of(name), "int8") << name;
  for (const char* name : {"fp8_static", "fp8_ootb", "a8w8"}) EXPECT_EQ(element_of(name), "fp8") << name;
  EXPECT_EQ(element_of("a4w4_blockscale"), "fp4");
  EXPECT_EQ(operands_of("fp8_block")->weight_bytes, 1);
  for (const char* name : {"w", "w4", "wa", "a8", "w3a5", "w4a", "a99999999999w8", "w4a16x", "wo", "_wo", ""})
    EXPECT_FALSE(element_of(name)) << name;
}

TEST(Roofline, TilesAndWaves) {
  const TileFill fits = fill({1, 128 * 10, 128 * 10, 64}, 128, 128, 100);
  EXPECT_EQ(fits.waves, 1);
  EXPECT_EQ(fits.tile_ratio * fits.wave_ratio, 1);
  const TileFill spills = fill({1, 128 * 10 + 1, 128 * 10, 64}, 128, 128, 100);
  EXPECT_EQ(spills.waves, 2);
  EXPECT_NEAR(spills.wave_ratio, 0.55, 1e-12);
}

TEST(Estimate, NeverBelowTheRooflineAndMonotone) {
  double last = 0;
  for (std::int64_t m = 1; m < 100'000; m *= 3) {
    const auto made = estimate(gemm(m, 1024, 1024), device(), nullptr).value();
    EXPECT_GE(made.seconds, std::max(made.explanation.compute_s, made.explanation.memory_s));
    EXPECT_LE(made.lower, made.seconds);
    EXPECT_GE(made.upper, made.seconds);
    EXPECT_GT(made.seconds, last);
    last = made.seconds;
  }
}

TEST(Estimate, WithoutACeilingThereIsNone) {
  const auto made = estimate(gemm(8, 8, 8, "fp8"), device(), nullptr);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, core::ErrorCode::unsupported);
}

TEST(Level, ReadAndWritten) {
  for (const Level level : {Level::calibrated, Level::interpolated, Level::theoretical})
    EXPECT_EQ(level_from_string(to_string(level)), level);
  EXPECT_EQ(level_from_string("calibrated"), Level::calibrated);
  EXPECT_FALSE(level_from_string("guessed"));
}

}  // namespace
}  // namespace aaco::estimation
