#include "estimation/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimation/serving/collectives.h"
#include "tests/support/shipped_device.h"
#include "tests/support/source_dir.h"

namespace aaco::estimation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Serving : public testing::Test {
 protected:
  Serving() {
    request_.load.input_tokens = 2048;
    request_.load.output_tokens = 256;
  }
  core::Result<ServingEstimate> of(const std::string& model, const std::string& device) {
    return estimate_serving(*find_decoder(decoders_, model), hardware::shipped_device(device), request_, rules_);
  }
  std::string refusal(const std::string& model, const std::string& device) {
    const auto made = of(model, device);
    return made ? "accepted" : made.error().text();
  }
  std::vector<DecoderArchitecture> decoders_ = *load_decoders(AACO_SOURCE_DIR "/data/architectures/decoders.yaml");
  ServingRules rules_ = *load_serving_rules(AACO_SOURCE_DIR "/data/rules/serving.yaml");
  ServingRequest request_;
};

TEST_F(Serving, TheCacheIsReadOnceForAllQueriesOfAGroup) {
  request_.load.concurrency = 1;
  const auto e = of("llama2-70b", "amd_instinct_mi300x_192gb");
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_EQ(e->memory.cache_bytes_per_token, 2 * 8 * 128 * 2 * 80);
  EXPECT_NEAR(e->decode[WorkClass::attention].bytes, (2048 + 128) * 327'680.0, 1);
}
TEST_F(Serving, Llama70BWithABatchOf64FitsAnMi300X) {
  request_.load.concurrency = 64;
  const auto e = of("llama2-70b", "amd_instinct_mi300x_192gb");
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_NEAR(e->memory.weight_bytes, 137.95e9, 0.1e9);
  EXPECT_LT(e->memory.requested_bytes, e->memory.device_bytes);
  request_.weight_type = "fp8";
  EXPECT_NEAR(of("llama2-70b", "amd_instinct_mi300x_192gb")->memory.weight_bytes, 69.5e9, 0.5e9);
}
// DeepSeek-V3 in FP8 on eight GPUs: the projections down to latent vectors, 7168 x (1536 + 512 + 64) in 61 layers, are on each.
TEST_F(Serving, RanksKeepWholeKeyHeadsAndLatentProjections) {
  request_.plan = {8, 1, 8, 1};
  const auto* deepseek = find_decoder(decoders_, "deepseek-v3");
  const double tables = deepseek->embedding_parameters() * 2, router = 58 * 7168.0 * 256, down = 61 * 7168.0 * 2112;
  EXPECT_NEAR(of("deepseek-v3", "nvidia_h200_sxm5_141gb")->memory.weight_bytes,
              (deepseek->parameters() - deepseek->embedding_parameters() - router - down + tables) / 8 + down + 2 * router, 1e6)
      << "the router is whole and in 16 bits";
  request_.plan = {8, 1, 1, 1};
  request_.weight_type = "fp8";
  const auto* qwen = find_decoder(decoders_, "qwen3-235b-a22b");  // 4 key heads on 8 GPUs: one each
  const double keys = 94 * 2.0 * 4 * 128 * 4096;
  EXPECT_NEAR(of("qwen3-235b-a22b", "nvidia_h200_sxm5_141gb")->memory.weight_bytes,
              (qwen->parameters() - 94 * 4096.0 * 128 + qwen->embedding_parameters() + keys) / 8 + 2 * 94 * 4096.0 * 128, 1e6);
}
TEST_F(Serving, NarrowWeightsAndCachesTakeLess) {
  const double wide = of("llama3-8b", "nvidia_h100_sxm5_80gb")->output_token.value;
  request_.weight_type = "int4";
  const auto narrow = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_LT(narrow->output_token.value, wide);
  EXPECT_LT(narrow->memory.weight_bytes, 6.5e9);
  request_.cache_type = "fp8";
  EXPECT_EQ(of("llama3-8b", "nvidia_h100_sxm5_80gb")->memory.cache_bytes_per_token * 2, narrow->memory.cache_bytes_per_token);
}
TEST_F(Serving, AStepReadsAtLeastTheWeights) {
  const auto e = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_GT(e->decode.total().bytes, 15e9);
  EXPECT_LT(e->decode.total().bytes, 17e9);
  EXPECT_GT(e->output_token.value, 15e9 / 3.352e12 * 1e9);
}
TEST_F(Serving, FewTokensVisitFewExperts) {
  request_.weight_type = "fp8";
  request_.plan.tensor = 8;
  request_.load.concurrency = 1;
  const double one = of("qwen3-235b-a22b", "nvidia_h100_sxm5_80gb")->decode[WorkClass::experts].bytes;
  request_.load.concurrency = 128;
  const double many = of("qwen3-235b-a22b", "nvidia_h100_sxm5_80gb")->decode[WorkClass::experts].bytes;
  const double all = find_decoder(decoders_, "qwen3-235b-a22b")->expert_parameters() / 8;
  EXPECT_NEAR(one / all, 8.0 / 128, 0.01);
  EXPECT_GT(many / all, 0.98);
}
TEST_F(Serving, AllGpusWaitForTheBusiest) {
  request_.weight_type = "fp8";
  request_.plan = {8, 1, 8, 1};
  request_.load.concurrency = 64;
  const auto tpot = [&](const char* routing) {
    request_.routing = *parse_routing(routing);
    return of("qwen3-235b-a22b", "nvidia_h100_sxm5_80gb")->output_token.value;
  };
  const auto prompt = [&](const char* routing) {
    request_.routing = *parse_routing(routing);
    return of("qwen3-235b-a22b", "nvidia_h100_sxm5_80gb")->prefill_seconds;
  };
  EXPECT_LE(tpot("even"), tpot("uniform"));
  EXPECT_LT(tpot("power_law_1.2"), tpot("8"));
  // A prompt's many tokens compute; few read the weights of the experts they visit, whichever those are.
  EXPECT_LT(prompt("even"), prompt("uniform"));
  EXPECT_LT(prompt("uniform"), prompt("power_law_1.2"));
  EXPECT_LT(prompt("power_law_1.2"), prompt("8"));
  request_.plan = {8, 1, 1, 1};
  EXPECT_EQ(tpot("even"), tpot("uniform"));
  request_.routing = *parse_routing("2");
  EXPECT_THAT(of("qwen3-235b-a22b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("no effect without --ep")));
  request_.plan = {};
  EXPECT_THAT(of("llama3-8b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("has no experts")));
}
TEST_F(Serving, TheBusiestReceivesMostAcrossReplicas) {
  request_.weight_type = "fp8";
  request_.plan = {1, 1, 8, 8};
  request_.load.concurrency = 512;
  const auto exchange = [&](const char* routing) {
    request_.routing = *parse_routing(routing);
    return of("qwen3-30b-a3b", "nvidia_h100_sxm5_80gb")->decode[WorkClass::exchange].bytes;
  };
  EXPECT_NEAR(exchange("2") / exchange("even"), 2, 1e-6);
}
TEST_F(Serving, MoreGpusShortenTheTokenAndExchange) {
  request_.load.concurrency = 16;
  const auto one = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  request_.plan.tensor = 4;
  const auto four = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_LT(four->output_token.value, one->output_token.value);
  EXPECT_EQ(one->decode[WorkClass::exchange].seconds, 0);
  EXPECT_GT(four->decode[WorkClass::exchange].seconds, 0);
}
TEST_F(Serving, ReplicasShareTheRequests) {
  request_.load.concurrency = 8;
  const auto one = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  request_.plan.replicas = 2;
  request_.load.concurrency = 16;
  const auto two = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_DOUBLE_EQ(one->output_token.value, two->output_token.value);
  EXPECT_DOUBLE_EQ(one->tokens_per_gpu_s.value, two->tokens_per_gpu_s.value);
  EXPECT_DOUBLE_EQ(one->tokens_per_s * 2, two->tokens_per_s);
}
TEST_F(Serving, RequestsBeyondTheCacheWait) {
  request_.load.concurrency = 4000;
  const auto e = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_LT(e->running, 4000);
  EXPECT_THAT(e->notes, Contains(HasSubstr("the others wait")));
}
TEST_F(Serving, TokensPerSecondDoNotFallWithTheLoad) {
  request_.load.input_tokens = 294;
  request_.load.output_tokens = 291;
  for (const char* model : {"mixtral-8x7b", "llama2-70b", "gpt-oss-120b"}) {
    double before = 0;
    for (double load = 1; load <= 4096; load *= 2) {
      request_.load.concurrency = load;
      const auto e = of(model, "amd_instinct_mi300x_192gb");
      ASSERT_TRUE(e) << e.error().text();
      EXPECT_GE(e->tokens_per_s, 0.999 * before) << model << " at " << load;
      before = e->tokens_per_s;
    }
  }
}
TEST_F(Serving, ARateHasLittlesConcurrency) {
  request_.load.rate = 2;
  const auto e = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(e);
  EXPECT_NEAR(e->load.concurrency, 2 * e->request.value / 1e9, 0.05 * e->load.concurrency);
  request_.load.rate = 1e4;
  EXPECT_THAT(of("llama3-8b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("exceeds what this plan sustains")));
}
TEST_F(Serving, PromptsOnOtherGpusDelayNoToken) {
  request_.load.concurrency = 64;
  const double mixed = of("llama3-8b", "nvidia_h100_sxm5_80gb")->output_token.value;
  request_.load.disaggregated = true;
  const auto apart = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_LT(apart->output_token.value, mixed);
  ASSERT_TRUE(apart->prefill_gpus_per_decode_gpu);
  EXPECT_GT(*apart->prefill_gpus_per_decode_gpu, 0);
}
TEST_F(Serving, TypesThatNoPointHadHaveWiderBounds) {
  const auto other = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  request_.weight_type = "fp8";
  const auto seen = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(seen && other);
  EXPECT_EQ(seen->output_token.level, Level::calibrated);
  EXPECT_EQ(other->output_token.level, Level::interpolated);
  EXPECT_GT(other->output_token.upper / other->output_token.lower, 1.1 * seen->output_token.upper / seen->output_token.lower);
  EXPECT_THAT(other->notes, Contains(HasSubstr("no serving points of bf16 weights")));
}
TEST_F(Serving, RequestsBeyondTheContextAreNoted) {
  EXPECT_THAT(of("llama2-7b", "nvidia_h100_sxm5_80gb")->notes, Not(Contains(HasSubstr("context"))));
  request_.load.input_tokens = 5000;
  EXPECT_THAT(of("llama2-7b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("exceed the model's context of 4096")));
}
TEST_F(Serving, DeviceLinkLimitsTheNetwork) {
  request_.weight_type = "fp8";
  request_.plan.tensor = 8;
  const auto node = of("llama3-70b", "nvidia_l40s_pcie_48gb");
  request_.plan.tensor = 16;
  const auto nodes = of("llama3-70b", "nvidia_l40s_pcie_48gb");
  ASSERT_TRUE(node && nodes);
  const auto exchange = static_cast<std::size_t>(ServingTerm::exchange);
  EXPECT_GE(nodes->terms[exchange], node->terms[exchange]);
}
TEST_F(Serving, OtherDevicesHaveWiderBounds) {
  request_.weight_type = "fp8";
  const auto known = of("llama3-8b", "nvidia_h100_sxm5_80gb"), other = of("llama3-8b", "amd_instinct_mi300x_192gb");
  EXPECT_EQ(known->output_token.level, Level::calibrated);
  EXPECT_EQ(other->output_token.level, Level::interpolated);
  EXPECT_GT(other->output_token.upper / other->output_token.lower, known->output_token.upper / known->output_token.lower);
}
TEST_F(Serving, WindowsBoundTheCache) {
  request_.load.input_tokens = 100'000;
  const auto e = of("gpt-oss-20b", "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_NEAR(e->memory.cache_bytes_per_token, 12 * 2 * 8 * 64 * 2, 100);
}
TEST_F(Serving, SearchReturnsPlansNoOtherBeats) {
  const auto found = search_plans(*find_decoder(decoders_, "llama3-70b"), hardware::shipped_device("nvidia_h100_sxm5_80gb"),
                                  request_, 8, std::nullopt, {}, rules_);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_GT(found->front.size(), 3U);
  for (std::size_t i = 1; i < found->front.size(); ++i) {
    EXPECT_GE(found->front[i].output_token.value, found->front[i - 1].output_token.value);
    EXPECT_GE(found->front[i].tokens_per_gpu_s.value, found->front[i - 1].tokens_per_gpu_s.value);
  }
}
TEST_F(Serving, SearchIsHeadedByAPlanOnAllGpus) {
  const auto& model = *find_decoder(decoders_, "llama3-8b");
  const auto device = hardware::shipped_device("nvidia_h100_sxm5_80gb");
  for (const std::int64_t gpus : {1, 3, 4, 6, 7}) {
    const auto found = search_plans(model, device, request_, gpus, std::nullopt, {}, rules_);
    ASSERT_TRUE(found && found->best) << gpus;
    EXPECT_EQ(found->best->plan.gpus(), gpus);
  }
  // 405B parameters fit eight GPUs and no replicas of fewer.
  request_.weight_type = "fp8";
  const auto large = search_plans(*find_decoder(decoders_, "llama3.1-405b"), device, request_, 9, std::nullopt, {}, rules_);
  ASSERT_TRUE(large && large->best);
  EXPECT_EQ(large->best->plan.gpus(), 9);  // nine stages
  EXPECT_EQ(large->best->plan.replicas, 1);
}
TEST_F(Serving, ReplicasWithoutARequestDoNothing) {
  request_.load.concurrency = 1;
  const auto one = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  request_.plan.replicas = 4;
  const auto four = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  EXPECT_DOUBLE_EQ(one->requests_per_s, four->requests_per_s);
  EXPECT_DOUBLE_EQ(one->tokens_per_gpu_s.value, 4 * four->tokens_per_gpu_s.value);
}
// 7.5e9 multiplied weights of 16 bits, and scores of one prompt of 2,048: by hand.
TEST_F(Serving, TheFloorIsOfPeakRates) {
  request_.load.concurrency = 1;
  const auto e = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  const auto device = hardware::shipped_device("nvidia_h100_sxm5_80gb");
  const double tables = 128'256.0 * 4096, layers = 32 * (4096.0 * (4096 + 2 * 1024) + 4096.0 * 4096 + 3 * 4096.0 * 14'336);
  const double scores = 32 * 4.0 * 32 * 128 * 2048 * 2048 / 2;
  EXPECT_NEAR(e->floor.first_token_s, (2 * layers * 2048 + 2 * tables + scores) / *device.peak_ops_per_s("bfloat16"), 1e-6);
  const double cache = 32 * 2.0 * 8 * 128 * 2 * (2048 + 128);
  EXPECT_NEAR(e->floor.output_token_s, ((layers + tables) * 2 + cache) / device.memory.bytes_per_s->value, 1e-6);
}
TEST_F(Serving, EnergyHasBoundsWiderThanTheTime) {
  const auto e = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(e->joules_per_token && e->joules_per_request);
  EXPECT_GT(e->joules_per_token->value / e->joules_per_token->lower, e->output_token.value / e->output_token.lower);
  EXPECT_GE(e->joules_per_request->value, 255 * e->joules_per_token->value);
  EXPECT_LE(e->joules_per_token->upper, 700 * e->output_token.upper / 1e9 + 1e-9);
}
TEST_F(Serving, SearchKeepsTheLimits) {
  ServingLimits limits;
  limits.output_token_ns = 20e6;
  const auto& model = *find_decoder(decoders_, "llama3-70b");
  const auto device = hardware::shipped_device("nvidia_h100_sxm5_80gb");
  const auto found = search_plans(model, device, request_, 8, std::nullopt, limits, rules_);
  ASSERT_TRUE(found && found->best);
  for (const auto& e : found->front) EXPECT_LE(e.output_token.value, 20e6);
  limits.output_token_ns = 1;
  EXPECT_FALSE(search_plans(model, device, request_, 8, std::nullopt, limits, rules_)->best);
}

TEST_F(Serving, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal("llama3-70b", "nvidia_h100_sxm5_80gb"), HasSubstr("does not fit"));
  request_.load.input_tokens = 10'000'000;
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("does not fit"));
}
TEST_F(Serving, RefusesImpossiblePlans) {
  request_.plan.tensor = 3;
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("32 attention heads cannot be split across 3 GPUs"));
  request_.plan = {1, 64, 1, 1};
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("64 stages"));
  request_.plan = {2, 1, 2, 1};
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("no experts"));
  request_.plan = {2, 1, 8, 1};
  EXPECT_THAT(refusal("mixtral-8x7b", "nvidia_h100_sxm5_80gb"), HasSubstr("--ep 8 does not fit"));
  request_.plan = {0, 1, 1, 1};
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("below 1"));
}
TEST_F(Serving, RefusesUnknownTypesAndStacks) {
  request_.weight_type = "fp7";
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("unknown weight type 'fp7'"));
  request_.weight_type = "";
  request_.cache_type = "fp7";
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("unknown KV cache type 'fp7'"));
  request_.cache_type = "";
  request_.stack = "nosuch";
  EXPECT_THAT(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), HasSubstr("known stacks: vllm"));
  request_.stack = "TensorRT-LLM";
  EXPECT_EQ(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), "accepted");
  request_.stack = "vllm@0.18.0";
  const auto versioned = of("llama3-8b", "nvidia_h100_sxm5_80gb");
  ASSERT_TRUE(versioned) << versioned.error().text();
  EXPECT_THAT(versioned->notes,
              Contains(AllOf(HasSubstr("fitted points are of vllm 0.18.0"), HasSubstr("all versions of vllm"))));
  request_.stack = "vllm@0.18.x";
  EXPECT_THAT(of("llama3-8b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("fitted points are of vllm 0.18.x")));
  for (const char* other : {"vllm@0.1", "vllm@", "vllm@9"}) {
    request_.stack = other;
    EXPECT_THAT(of("llama3-8b", "nvidia_h100_sxm5_80gb")->notes, Contains(HasSubstr("no fitted points are of vllm"))) << other;
  }
}
TEST_F(Serving, RefusesLoadsThatAreNone) {
  request_.load.output_tokens = 0;
  EXPECT_NE(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), "accepted");
  request_.load.output_tokens = 1;
  request_.load.concurrency = 0;
  EXPECT_NE(refusal("llama3-8b", "nvidia_h100_sxm5_80gb"), "accepted");
}

TEST(Collectives, OneRankSendsNothing) { EXPECT_EQ(all_reduce(1e6, 1, 1e9, 1e-6, true).seconds, 0); }
TEST(Collectives, SmallBuffersGoInOneStep) {
  EXPECT_EQ(all_reduce(1e3, 8, 450e9, 7e-6, true).algorithm, "one-shot");
  EXPECT_EQ(all_reduce(1e9, 8, 450e9, 7e-6, true).algorithm, "two-shot");
}
TEST(Collectives, WithoutDirectLinksLargeBuffersGoAroundARing) {
  EXPECT_EQ(all_reduce(1e9, 8, 50e9, 7e-6, false).algorithm, "ring");
  EXPECT_EQ(all_reduce(1e3, 8, 50e9, 7e-6, false).algorithm, "tree");
}
TEST(Collectives, RingMovesTwoTimesTheBufferLessOneShare) {
  EXPECT_DOUBLE_EQ(all_reduce(8e9, 8, 1e9, 0, false).seconds, 14);
  EXPECT_DOUBLE_EQ(all_to_all(8e9, 8, 1e9).seconds, 7);
}

}  // namespace
}  // namespace aaco::estimation
