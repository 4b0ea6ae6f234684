#include "analytics/roofline/library_operators.h"

#include <gtest/gtest.h>

namespace aaco::analytics::roofline {
namespace {

std::optional<OperatorWork> work(std::string_view name, std::string_view text) {
  return library_work(name, core::Json::parse(text).value_or(core::Json()));
}

constexpr std::string_view kProduct =
    R"({"Input Dims":[[32,4096],[6144,4096],[]],"Input type":["c10::BFloat16","c10::BFloat16",""]})";

TEST(LibraryWork, ProductsByTheirShapes) {
  const auto gemm = work("aiter::gemm_a16w16", kProduct);
  ASSERT_TRUE(gemm);
  EXPECT_DOUBLE_EQ(gemm->flops, 2.0 * 32 * 4096 * 6144);
  EXPECT_DOUBLE_EQ(gemm->bytes, 2.0 * (32 * 4096 + 4096.0 * 6144 + 32 * 6144));
  EXPECT_EQ(gemm->dtype, "bfloat16");
  EXPECT_DOUBLE_EQ(work("vllm::rocm_unquantized_gemm", kProduct)->flops, gemm->flops);
  const auto batched = work("custom::linear", R"({"Input Dims":[[2,16,64],[64,128]],"Input type":["c10::Half","c10::Half"]})");
  ASSERT_TRUE(batched);
  EXPECT_DOUBLE_EQ(batched->flops, 2.0 * 32 * 64 * 128) << "weights [K, N]";
}
TEST(LibraryWork, ShapesThatAreNoProduct) {
  EXPECT_FALSE(
      work("aiter::gemm_a16w16", R"({"Input Dims":[[32,4096],[6144,2048]],"Input type":["c10::BFloat16","c10::BFloat16"]})"));
  EXPECT_FALSE(work("aiter::gemm_a16w16", R"({"Input Dims":[[32,4096]],"Input type":["c10::BFloat16"]})"));
  EXPECT_FALSE(work("aiter::gemm_a16w8", R"({"Input Dims":[[32,64],[64,64]],"Input type":["c10::BFloat16","signed char"]})"));
  for (const char* name : {"vllm::fused_moe_gemm", "aiter::gemm_a4w4_fp4", "vllm::gptq_gemm", "gemm", "vllm::moe_forward"})
    EXPECT_FALSE(work(name, kProduct)) << name;
}
TEST(LibraryWork, AttentionOfABatch) {
  constexpr std::string_view kFull =
      R"({"Input Dims":[[2,128,8,64],[2,128,4,64],[2,128,4,64],[],[],[]],"Input type":["c10::Half"],"Concrete Inputs":["","","","0.","0.125","False"]})";
  const auto full = work("flash_attn::_flash_attn_forward", kFull);
  ASSERT_TRUE(full);
  EXPECT_DOUBLE_EQ(full->flops, 4.0 * 2 * 8 * 128 * 128 * 64);
  std::string causal(kFull);
  causal.replace(causal.find("False"), 5, "True");
  EXPECT_DOUBLE_EQ(work("aiter::mha_fwd", causal)->flops, 4.0 * 2 * 8 * 128 * 64.5 * 64);
}
TEST(LibraryWork, AttentionOfSequences) {
  const auto text = [](const char* tokens, const char* starts, const char* longest) {
    return std::string(R"({"Input Dims":[[)") + tokens + ",8,64],[" + tokens + ",8,64],[" + tokens + ",8,64],[" + starts + "],[" +
           starts + R"(],[],[]],"Input type":["c10::Half"],"Concrete Inputs":["","","","","",")" + longest + R"(",")" + longest +
           R"(","0.","0.1","True"]})";
  };
  const char* name = "flash_attn::_flash_attn_varlen_forward";
  ASSERT_TRUE(work(name, text("256", "2", "256")));
  EXPECT_DOUBLE_EQ(work(name, text("256", "2", "256"))->flops, 4.0 * 8 * 256 * 128.5 * 64);
  EXPECT_DOUBLE_EQ(work(name, text("256", "3", "128"))->flops, 4.0 * 8 * 256 * 64.5 * 64) << "two of 128";
  EXPECT_FALSE(work(name, text("256", "3", "200"))) << "of unknown lengths";
  EXPECT_FALSE(work(name, text("256", "1", "256")));
}

}  // namespace
}  // namespace aaco::analytics::roofline
