#include <gtest/gtest.h>

#include "estimation/calibrated.h"
#include "estimation/kernel.h"
#include "estimation/roofline.h"

// Work of the operators that language models are served with.
namespace aaco::estimation {
namespace {

Work of(const Kernel& kernel) { return work_of(kernel).value(); }
std::string refused(const Kernel& kernel) {
  const auto made = work_of(kernel);
  return made ? "accepted" : made.error().message;
}

TEST(ServingWork, WindowBoundsWhatADecodingStepReads) {
  const AttentionShape full{false, 4, 1, 4095, 32, 8, 128, "fp8"};
  AttentionShape windowed = full;
  windowed.window = 128;
  EXPECT_EQ(of({full, "bf16"}).flops, 4.0 * 4096 * 32 * 4 * 128);
  EXPECT_EQ(of({windowed, "bf16"}).flops, 4.0 * 128 * 32 * 4 * 128);
  EXPECT_EQ(of({full, "bf16"}).bytes - of({windowed, "bf16"}).bytes, 2.0 * (4096 - 128) * 8 * 4 * 128);
  windowed.window = 10000;
  EXPECT_EQ(of({windowed, "bf16"}).bytes, of({full, "bf16"}).bytes);
}

TEST(ServingWork, WindowOfAPromptCountsPairsWithinIt) {
  AttentionShape prompt{true, 1, 5, 0, 1, 1, 8, ""};
  prompt.window = 2;  // 1 + 2 + 2 + 2 + 2 pairs
  EXPECT_EQ(of({prompt, "bf16"}).flops, 4.0 * 9 * 8);
  prompt.past = 3;  // all five queries see two
  EXPECT_EQ(of({prompt, "bf16"}).flops, 4.0 * 10 * 8);
  prompt.window = -1;
  EXPECT_EQ(refused({prompt, "bf16"}), "attention: the window is negative");
}

TEST(ServingWork, LatentCacheIsReadOnceForAllHeads) {
  const auto bytes = [](std::int64_t heads) {
    return of({LatentAttentionShape{false, 2, heads, 1, 1000, "bf16"}, "bf16"}).bytes;
  };
  EXPECT_EQ(bytes(2) - bytes(1), 2.0 * (576 + 512) * 2);
  EXPECT_EQ(2 * bytes(1) - bytes(2), 2.0 * 1000 * 576 * 2);
  EXPECT_EQ(of({LatentAttentionShape{false, 2, 16, 1, 1000, "bf16"}, "bf16"}).flops, 2.0 * 2 * 16 * 1000 * (576 + 512));
  EXPECT_EQ(of({LatentAttentionShape{true, 1, 1, 4, 4, "bf16"}, "bf16"}).flops, 2.0 * 10 * 320);
  EXPECT_NE(refused({LatentAttentionShape{true, 1, 0, 4, 4, "bf16"}, "bf16"}), "accepted");
}

TEST(ServingWork, FewTokensVisitFewExperts) {
  const ExpertsShape one{1, 1024, 512, 64, 2};
  EXPECT_NEAR(load_of(one).experts, 2, 1e-9);
  EXPECT_EQ(load_of(one).visits, 2);
  EXPECT_NEAR(load_of({100000, 1024, 512, 64, 2}).experts, 64, 1e-9);
  EXPECT_EQ(of({one, "bf16"}).flops, 2.0 * 3 * 2 * 1024 * 512);
  const ExpertsShape shared{64, 1024, 512, 64, 2, true, 2, 4};
  EXPECT_EQ(load_of(shared).visits, 32);
  EXPECT_LT(load_of(shared).experts, 16);
  EXPECT_EQ(of({shared, "bf16"}).flops, 2.0 * 3 * 32 * 1024 * 256);
  ExpertsShape skewed = shared;
  skewed.skew = 1.2;
  EXPECT_GT(load_of(skewed).visits, 1.1 * 32) << "of the busiest";
  EXPECT_LE(load_of(skewed).experts, 16);
  for (const std::int64_t hostile : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1} << 62}) {
    skewed.experts = hostile;
    static_cast<void>(load_of(skewed));  // ends, and takes no memory
  }
  EXPECT_EQ(refused({ExpertsShape{1, 8, 8, 2, 4}, "bf16"}), "more experts per token (topk) than there are experts");
  EXPECT_NE(refused({ExpertsShape{0, 8, 8, 2, 1}, "bf16"}), "accepted");
}

TEST(ServingWork, CollectivesSendWhatARingDoes) {
  EXPECT_EQ(of({CollectiveShape{"all_reduce", 8, 8, 800}, "fp16"}).bytes, 2 * 700);
  EXPECT_EQ(of({CollectiveShape{"all_gather", 8, 8, 800}, "fp16"}).bytes, 700);
  EXPECT_EQ(of({CollectiveShape{"send_recv", 2, 1, 800}, "fp16"}).bytes, 800);
  EXPECT_EQ(refused({CollectiveShape{"all_reduce", 1, 1, 800}, "fp16"}), "a collective requires at least 2 ranks");
  EXPECT_NE(refused({CollectiveShape{"all_reduce", 2, 2, 0}, "fp16"}), "accepted");
}

TEST(ServingWork, CollectivesAreBoundByTheLink) {
  DeviceFacts device;
  device.id = "test";
  device.memory_bytes_per_s = 1e12;
  const Kernel sum{CollectiveShape{"all_reduce", 2, 2, 1e6}, "fp16"};
  EXPECT_EQ(roofline(sum, device).error().message, "the registry has no link bandwidth for test");
  device.link_bytes_per_s = 1e11;
  EXPECT_DOUBLE_EQ(roofline(sum, device)->seconds(), 1e-5);
  EXPECT_DOUBLE_EQ(roofline({CollectiveShape{"all_reduce", 2, 1, 1e6}, "fp16"}, device)->seconds(), 2e-5) << "between nodes";
}

TEST(ServingWork, KindsAndClassesKeepPhasesApart) {
  const Kernel decode{AttentionShape{false, 1, 1, 7, 1, 1, 8, ""}, "bf16"},
      prefill{AttentionShape{true, 1, 8, 0, 1, 1, 8, ""}, "bf16"};
  EXPECT_EQ(kind_of(decode), "decode attention");
  EXPECT_EQ(kind_of(prefill), "attention");
  EXPECT_EQ(class_of({LatentAttentionShape{false, 1, 1, 1, 8, ""}, "bf16"}), "decode latent attention bf16");
  EXPECT_EQ(class_of({ExpertsShape{}, "fp8"}), "experts fp8");
  EXPECT_EQ(class_of({CollectiveShape{"all_gather", 2, 2, 1}, "fp16"}), "all_gather fp16");
  EXPECT_FALSE(has_programs("gemm"));
}

}  // namespace
}  // namespace aaco::estimation
