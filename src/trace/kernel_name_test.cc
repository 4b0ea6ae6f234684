#include "trace/kernel_name.h"

#include <gtest/gtest.h>

namespace aaco::trace {
namespace {

TEST(ShortKernelName, TheFunctionAndItsTemplateArguments) {
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                              "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)"),
            "vectorized_elementwise_kernel<4, FillFunctor<float>, Array<char*, 1>>");
}

TEST(ShortKernelName, ALambdaIsKnownByItsFunction) {
  EXPECT_EQ(short_kernel_name("void k<2, at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
                              "c10::Scalar)::{lambda()#1}::operator()() const::{lambda(float)#1}, float>(int)"),
            "k<2, launch_clamp_scalar, float>");
}

TEST(ShortKernelName, AsNsightWritesThem) {
  EXPECT_EQ(short_kernel_name("void at::native::<unnamed>::grid_stride_kernel<float, (int)4, "
                              "at::native::templates::normal<float>(at::Tensor &, float)::[lambda(int) (instance 2)]>(long)"),
            "grid_stride_kernel<float, 4, normal<float>>");
  EXPECT_EQ(short_kernel_name("void k<float, [lambda(int) (instance 1)]>(long)"), "k<float, [lambda(int) (instance 1)]>");
}

TEST(ShortKernelName, ValuesWithTheirTypes) {
  EXPECT_EQ(
      short_kernel_name("void cudnn::ops::nchwToNhwcKernel<float, (bool)1, (cudnnKernelDataType_t)2>(cudnn::ops::P<float>)"),
      "nchwToNhwcKernel<float, 1, 2>");
}

TEST(ShortKernelName, OfAKernelWithoutTemplateArguments) {
  EXPECT_EQ(short_kernel_name("ns::(anonymous namespace)::softmax(float const*, float*, long)"), "softmax");
  EXPECT_EQ(short_kernel_name("void Kernel<float>(float*) [clone .kd]"), "Kernel<float>");
}

TEST(ShortKernelName, MangledNames) {
  EXPECT_EQ(short_kernel_name("_ZN2at6native12scale_kernelIfLi4EEEvPT_i"), "scale_kernel<float, 4>");
  EXPECT_EQ(short_kernel_name("_ZN2at6native12scale_kernelIfLi4EEEvPT_i.kd"), "scale_kernel<float, 4>");
  EXPECT_EQ(short_kernel_name("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELb1EEEvPT0_PT_PfS4_i"),
            "add_rmsnorm_quant_kernel<bfloat16, bfloat16, 64, true>");
  EXPECT_EQ(short_kernel_name(
                "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i"),
            "act_and_mul_kernel");
  for (const char* name : {"_Zebra", "_ZN", "_Z", "_ZN99999999999999999999x", "_ZN9short", "_ZN0"})
    EXPECT_EQ(short_kernel_name(name), name);
}

TEST(ShortKernelName, OversizedMangledName) {
  // Each pair is one of two of the last; a template and its instance are one number each: S_, S0_, S1_ ... to base 36.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string bomb = "_Z6kernelSt4pairIiiE";
  for (std::size_t level = 0; level < 60; ++level) {
    const std::size_t number = 2 * level;
    const std::string last = "S" + (number < 36 ? "" : std::string(1, digits[number / 36])) + digits[number % 36] + "_";
    bomb += "St4pairI" + last + last + "E";
  }
  EXPECT_EQ(short_kernel_name(bomb), "kernel");
}

TEST(ShortKernelName, NonSignaturesAreUnchanged) {
  for (const char* name :
       {"", "Cijk_Ailk_Bljk_SB_MT64x64x16", "ampere_sgemm_32x32_sliced1x4_tn", "a<b", "x)>(", "()", "aten::addmm", "{}()"})
    EXPECT_EQ(short_kernel_name(name), name);
}

TEST(ShortKernelName, ADeepNameStays) {
  const std::string deep = std::string(5000, '<') + std::string(5000, '>');
  EXPECT_EQ(short_kernel_name(deep), deep);
}

}  // namespace
}  // namespace aaco::trace
