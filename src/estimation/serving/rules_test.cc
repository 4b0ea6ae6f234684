#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "estimation/serving.h"
#include "tests/support/shipped_device.h"
#include "tests/support/source_dir.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;

const std::string kRules = AACO_SOURCE_DIR "/data/rules/serving.yaml";

TEST(ServingRulesFile, RefusesAMissingFile) { EXPECT_FALSE(load_serving_rules("/nosuch.yaml")); }
// One line of the shipped file replaced.
std::string refused_rules(const std::string& line, const std::string& by) {
  std::string text = *core::read_file(kRules);
  const auto begin = text.find("\n" + line) + 1;
  text.replace(begin, text.find('\n', begin) - begin, by);
  const std::string path = testing::TempDir() + "serving_rules.yaml";
  EXPECT_TRUE(core::write_file_atomic(path, text));
  const auto rules = load_serving_rules(path);
  return rules ? "accepted" : rules.error().text();
}
TEST(ServingRulesFile, RefusesTimesThatCannotBe) {
  EXPECT_EQ(refused_rules("first_token_steps:", "first_token_steps: 2"), "accepted");
  EXPECT_THAT(refused_rules("first_token_steps:", "first_token_steps: 0"), HasSubstr("invalid first_token_steps"));
  EXPECT_THAT(refused_rules("first_token_steps:", "first_token: {prompt: 1}"), HasSubstr("first_token"));
  EXPECT_THAT(refused_rules("  - {name: sglang", "  - {name: sglang, first_token_s: -1, chunk_tokens: 1}"),
              HasSubstr("invalid first_token_s"));
  EXPECT_THAT(refused_rules("  - {name: sglang", "  - {name: sglang, chunk_tokens: 1}"), HasSubstr("first_token_s"));
  EXPECT_THAT(refused_rules("  - {vendor: nvidia, type: mxfp4", "  - {vendor: nvidia, type: mxfp4, ratio: 2}"),
              HasSubstr("invalid ratio"));
}

class ExpertRates : public testing::Test {
 protected:
  ExpertRates() {
    request_.load.input_tokens = 2048;
    request_.load.output_tokens = 256;
    request_.plan.tensor = 8;
  }
  double seconds_on(const std::string& device) {
    const auto made = estimate_serving(model_, hardware::shipped_device(device), request_, rules_);
    return made ? made->prefill[WorkClass::experts].seconds : 0;
  }
  DecoderArchitecture model_ =
      *find_decoder(*load_decoders(AACO_SOURCE_DIR "/data/architectures/decoders.yaml"), "qwen3-235b-a22b");
  ServingRules rules_ = *load_serving_rules(kRules);
  ServingRequest request_;
};

// 94 layers, 8 of 128 experts of 3 x 4096 x 1536, one prompt of 2,048 tokens that visits all of them.
TEST_F(ExpertRates, ComputeAndMoveOneAfterTheOther) {
  request_.weight_type = "fp8";
  const double weights = 94 * 3.0 * 4096 * 1536 / 8, computing = 2 * weights * 8 * 2048 / (1978.9e12 * 0.27);
  const double rows = 94 * 2048 * 8 * (2 * 4096 + 3 * 1536 / 8.0) * 2, moving = (128 * weights + rows) / 4.8e12;
  EXPECT_NEAR(seconds_on("nvidia_h200_sxm5_141gb") / (computing + moving), 1, 0.01);
}
TEST_F(ExpertRates, AnotherMakersAreAsItsProducts) {
  request_.weight_type = "fp8";
  const double shipped = seconds_on("amd_instinct_mi300x_192gb");
  rules_.experts.clear();
  EXPECT_GT(shipped, 0);
  EXPECT_EQ(seconds_on("amd_instinct_mi300x_192gb"), shipped);
}
// B200 multiplies MXFP4, H200 widens it.
TEST_F(ExpertRates, FourBitsThatAreMultipliedAreNotThoseMeasured) {
  request_.weight_type = "mxfp4";
  const double multiplied = seconds_on("nvidia_b200_sxm6_180gb"), widened = seconds_on("nvidia_h200_sxm5_141gb");
  rules_.experts.clear();
  EXPECT_GT(multiplied, 0);
  EXPECT_EQ(seconds_on("nvidia_b200_sxm6_180gb"), multiplied);
  EXPECT_LT(seconds_on("nvidia_h200_sxm5_141gb"), widened);
}

}  // namespace
}  // namespace aaco::estimation
