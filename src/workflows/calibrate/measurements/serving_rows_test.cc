#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_device.h"
#include "workflows/measurement_files.h"

namespace aaco::workflows {
namespace {

using testing::HasSubstr;

constexpr const char* kDecode = "device,dtype,kv_dtype,batch,heads,kv_heads,head_dim,kv_len,window,latency_us,kernel,source\n";
constexpr const char* kPrefill =
    "device,dtype,kv_dtype,batch,heads,kv_heads,head_dim,q_len,kv_len,window,latency_us,kernel,source\n";
constexpr const char* kLatent = "device,phase,dtype,kv_dtype,batch,heads,q_len,kv_len,latency_us,kernel,source\n";
constexpr const char* kExperts =
    "device,dtype,tokens,hidden,inter,experts,topk,gated,tp,ep,distribution,latency_us,kernel,source\n";
constexpr const char* kCollectives = "device,system,kind,ranks,ranks_per_node,bytes,dtype,latency_us,backend,source\n";

core::Result<estimation::Kernel> kernel_of(const char* header, const std::string& row) {
  MeasurementFiles files;
  AACO_TRY(read_measurements(std::string(header) + row + "\n", "t.csv", hardware::shipped_registry(), files));
  return files.devices.begin()->second.kernels.at(0).kernel;
}
std::string refusal(const char* header, const std::string& row) {
  const auto made = kernel_of(header, row);
  return made ? "accepted" : made.error().text();
}

TEST(ServingRows, ADecodingStepCountsItsOwnToken) {
  const auto made = kernel_of(kDecode, "h200,bfloat16,fp8,2,32,8,128,1024,0,10,FA3,aiconfigurator:sglang-0.5.14").value();
  const auto& shape = std::get<estimation::AttentionShape>(made.shape);
  EXPECT_FALSE(shape.prefill);
  EXPECT_EQ(shape.past, 1023);
  EXPECT_EQ(shape.kv_type, "fp8");
  EXPECT_EQ(made.program, "sglang:fa3");
  EXPECT_EQ(made.type, "bf16");
}
TEST(ServingRows, APromptIsCausalFromItsFirstToken) {
  const auto made = kernel_of(kPrefill, "h200,fp8,fp8,2,32,8,128,1024,1024,128,10,fa3,me:vllm").value();
  const auto& shape = std::get<estimation::AttentionShape>(made.shape);
  EXPECT_TRUE(shape.prefill);
  EXPECT_EQ(shape.query, 1024);
  EXPECT_EQ(shape.past, 0);
  EXPECT_EQ(shape.window, 128);
  EXPECT_EQ(made.program, "me:fa3");
}
TEST(ServingRows, LatentAttentionHasItsPhase) {
  const auto made = kernel_of(kLatent, "h200,decode,bf16,fp8,2,16,1,1024,10,default,a:trtllm-1.3").value();
  EXPECT_FALSE(std::get<estimation::LatentAttentionShape>(made.shape).prefill);
  EXPECT_EQ(kind_of(made), "decode latent attention");
}
TEST(ServingRows, ExpertsHaveTheirSkew) {
  const auto made = kernel_of(kExperts, "h200,fp8_block,16,4096,1536,128,8,1,2,4,power_law_1.2,10,triton,a:vllm-0.24").value();
  const auto& shape = std::get<estimation::ExpertsShape>(made.shape);
  EXPECT_EQ(shape.skew, 1.2);
  EXPECT_EQ(shape.tensor, 2);
  EXPECT_EQ(shape.expert, 4);
  EXPECT_EQ(made.type, "fp8_block");
}
TEST(ServingRows, ACollectiveIsOfBytes) {
  const auto made = kernel_of(kCollectives, "h200,x,custom_allreduce,4,4,1024,int8,10,vLLM_custom_graph,a:vllm-0.24").value();
  EXPECT_EQ(std::get<estimation::CollectiveShape>(made.shape).op, "all_reduce");
  EXPECT_EQ(made.program, "vllm:vllm_custom_graph");
  EXPECT_EQ(made.type, "fp16");
}
TEST(ServingRows, RefusalsNameTheColumn) {
  EXPECT_THAT(refusal(kDecode, "h200,bf16,bf16,2,32,8,128,0,0,10,,"), HasSubstr("kv_len is '0', expected a positive number"));
  EXPECT_THAT(refusal(kDecode, "h200,bf16,wide,2,32,8,128,9,0,10,,"), HasSubstr("kv_dtype is 'wide', not a known data type"));
  EXPECT_THAT(refusal(kDecode, "h200,bf16,bf16,2,32,8,128,9,-3,10,,"), HasSubstr("the window is negative"));
  EXPECT_THAT(refusal(kPrefill, "h200,bf16,bf16,2,32,8,128,20,9,0,10,,"), HasSubstr("kv_len is '9', expected at least q_len"));
  EXPECT_THAT(refusal(kLatent, "h200,both,bf16,bf16,2,16,1,9,10,,"), HasSubstr("phase is 'both', expected prefill or decode"));
  EXPECT_THAT(refusal(kExperts, "h200,fp8,16,64,64,4,8,1,1,1,balanced,10,,"), HasSubstr("more experts per token"));
  EXPECT_THAT(refusal(kExperts, "h200,fp8,16,64,64,4,2,2,1,1,balanced,10,,"), HasSubstr("gated is '2', expected 0 or 1"));
  EXPECT_THAT(refusal(kExperts, "h200,fp8,16,64,64,4,2,1,1,1,power_law_x,10,,"), HasSubstr("expected power_law_"));
  EXPECT_THAT(refusal(kCollectives, "h200,x,broadcast,4,4,1024,fp16,10,nccl,"), HasSubstr("kind is 'broadcast'"));
  EXPECT_THAT(refusal(kCollectives, "h200,x,all_reduce,1,1,1024,fp16,10,nccl,"), HasSubstr("at least 2 ranks"));
  EXPECT_THAT(refusal(kCollectives, "h200,x,all_reduce,2,2,0,fp16,10,nccl,"), HasSubstr("bytes is '0'"));
}

}  // namespace
}  // namespace aaco::workflows
