#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/files.h"
#include "estimation/calibration_file.h"
#include "estimation/serving.h"
#include "tests/support/shipped_device.h"

// Estimates of served models by what ships, over models, devices, lengths, types and loads: never below what the device's peak
// rates allow, and no figure against another. Operations and bytes are counted here anew, from the sizes of the model alone.
namespace aaco::estimation {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

CalibrationSet shipped_fits() {
  CalibrationSet fits;
  for (const char* id :
       {"amd_instinct_mi100_32gb", "amd_instinct_mi210_64gb", "amd_instinct_mi300x_192gb", "amd_instinct_mi308x_192gb",
        "nvidia_a100_sxm4_80gb", "nvidia_h100_sxm5_80gb", "nvidia_h200_sxm5_141gb"}) {
    const std::string path = std::string(AACO_SOURCE_DIR "/data/calibration/") + id + ".calibration";
    const auto file = CalibrationFile::open(core::PositionalBytes::open(path).value());
    fits.add(file.value(), facts_of(hardware::shipped_device(id)));
  }
  return fits;
}

struct Case {
  std::string model, device, type;
  std::int64_t tensor, input;
  double concurrency;
  [[nodiscard]] std::string name() const {
    return fmt::format("{} on {} x {}, {}, {} tokens, {:g} requests", model, tensor, device, type, input, concurrency);
  }
};

// The least a token and a prompt take on the device, of dense models and those of experts, with all of their layers' windows.
struct Least {
  double prompt_s = 0, token_s = 0;
};
Least least_of(const DecoderArchitecture& model, const hardware::Device& device, const Case& one, std::int64_t output) {
  const bool narrow = one.type == "fp8" || one.type == "int8";
  const double weight = one.type == "int4" ? 0.5 : narrow ? 1.0 : 2.0, tensor = real(one.tensor);
  const std::string computed = one.type == "fp8"    ? "float8"
                               : one.type == "int8" ? "int8"
                               : one.type == "fp16" ? "float16"
                                                    : "bfloat16";
  const auto own = device.peak_ops_per_s(computed);
  const double peak = std::max(own.value_or(0), device.peak_ops_per_s("bfloat16").value_or(0));
  const double bandwidth = device.memory.bytes_per_s->value;
  const double router = model.experts ? real(model.expert_layers() * model.experts->count * model.hidden) : 0;
  const double multiplied = model.active_parameters() - model.embedding_parameters() - router;
  const double full = real(model.layers - model.windowed_layers), input = real(one.input);
  Least least;
  const double scores = model.latent ? 0 : full * input * input / 2 * 2 * 2 * real(model.heads * model.head_dim);
  least.prompt_s = (2 * multiplied * input + scores) / tensor / peak;
  const double cached = model.latent ? 0 : full * (input + real(output) / 2) * 2 * real(model.kv_heads * model.head_dim);
  least.token_s = (multiplied * weight + one.concurrency * cached) / tensor / bandwidth;
  return least;
}

class ServingFloors : public testing::Test {
 protected:
  std::vector<DecoderArchitecture> decoders_ = *load_decoders(AACO_SOURCE_DIR "/data/architectures/decoders.yaml");
  ServingRules rules_ = *load_serving_rules(AACO_SOURCE_DIR "/data/rules/serving.yaml");
  CalibrationSet fits_ = shipped_fits();
  static constexpr std::int64_t kOutput = 128;

  core::Result<ServingEstimate> estimate(const Case& one, const CalibrationSet* fits) {
    ServingRequest request;
    request.plan.tensor = one.tensor;
    request.load = {one.input, kOutput, one.concurrency, std::nullopt, false};
    request.weight_type = one.type;
    request.cache_type = "bf16";
    return estimate_serving(*find_decoder(decoders_, one.model), hardware::shipped_device(one.device), request, rules_, fits);
  }

  void check(const Case& one, const ServingEstimate& e) {
    SCOPED_TRACE(one.name());
    const Least least = least_of(*find_decoder(decoders_, one.model), hardware::shipped_device(one.device), one, kOutput);
    constexpr double kNs = 1e9, kNear = 1 - 1e-9;
    EXPECT_GE(e.prefill_seconds, least.prompt_s * kNear);
    EXPECT_GE(e.first_token.value, e.prefill_seconds * kNs * kNear);
    EXPECT_GE(e.first_token.lower, least.prompt_s * kNs * kNear);
    EXPECT_GE(e.output_token.lower, least.token_s * kNs * kNear);
    EXPECT_GE(e.output_token.value, e.decode_seconds * kNs * kNear);
    EXPECT_GE(e.request.lower, (least.prompt_s + (kOutput - 1) * least.token_s) * kNs * kNear);
    EXPECT_NEAR(e.request.value, e.first_token.value + (kOutput - 1) * e.output_token.value, 1e-6 * e.request.value);
    EXPECT_LE(e.tokens_per_gpu_s.upper * real(one.tensor),
              one.concurrency * kOutput / (least.prompt_s + (kOutput - 1) * least.token_s) / kNear);
    EXPECT_NEAR(e.all_tokens_per_s().value, e.tokens_per_s, 1e-9 * e.tokens_per_s);
    for (const Estimate* each : {&e.first_token, &e.output_token, &e.request, &e.tokens_per_gpu_s}) {
      EXPECT_LE(each->lower, each->value);
      EXPECT_GE(each->upper, each->value);
    }
    for (const auto* each : {&e.joules_per_token, &e.joules_per_request})
      if (*each) {
        EXPECT_LT((*each)->lower, (*each)->value);
        EXPECT_GE((*each)->upper, (*each)->value);
      }
    // Alone, a request waits for nothing but its prompt and the server.
    if (one.concurrency == 1) {
      EXPECT_LE(e.first_token.value, e.prefill_seconds * kNs + 30e6);
    }
  }
};

TEST_F(ServingFloors, NoFigureIsBelowThePeakRatesOrAgainstAnother) {
  std::size_t checked = 0;
  for (const char* model : {"llama3-8b", "llama2-70b", "llama3.1-405b", "qwen2.5-72b", "qwen3-32b", "mixtral-8x7b", "deepseek-v3",
                            "gpt-oss-20b", "gemma-2-9b", "phi-4"}) {
    ASSERT_NE(find_decoder(decoders_, model), nullptr) << model;
    for (const char* device :
         {"nvidia_a100_sxm4_80gb", "nvidia_h100_sxm5_80gb", "nvidia_h200_sxm5_141gb", "nvidia_b200_sxm6_180gb",
          "nvidia_l4_pcie_24gb", "nvidia_l40s_pcie_48gb", "amd_instinct_mi250x_128gb", "amd_instinct_mi300x_192gb",
          "amd_instinct_mi325x_256gb", "amd_instinct_mi355x_288gb"})
      for (const auto& [tensor, input, concurrency] :
           {std::tuple{1, 128, 1.0}, {1, 8192, 4.0}, {2, 2048, 1.0}, {8, 512, 64.0}, {8, 65'536, 1.0}, {8, 120'000, 2.0}})
        for (const char* type : {"bf16", "fp16", "fp8", "int4"}) {
          const Case one{model, device, type, tensor, input, concurrency};
          const auto made = estimate(one, &fits_);
          if (!made) continue;  // does not fit the memory
          if (made->running < concurrency * 0.999) continue;
          check(one, *made);
          ++checked;
        }
  }
  ASSERT_TRUE(fits_.status()) << fits_.status().error().text();
  EXPECT_GT(checked, 1000U);
}

// Decoding moves the same bytes in both; prompts have one peak.
TEST_F(ServingFloors, SixteenBitsAreSixteenBits) {
  for (const char* device : {"nvidia_a100_sxm4_80gb", "nvidia_h100_sxm5_80gb", "nvidia_l4_pcie_24gb", "amd_instinct_mi210_64gb",
                             "amd_instinct_mi250x_128gb", "amd_instinct_mi300x_192gb", "amd_instinct_mi355x_288gb"})
    for (const int tensor : {1, 8})
      for (const char* model : {"llama3-8b", "qwen3-32b", "llama2-70b"}) {
        const Case one{model, device, "bf16", tensor, 512, 1};
        Case other = one;
        other.type = "fp16";
        const auto bf16 = estimate(one, &fits_), fp16 = estimate(other, &fits_);
        if (!bf16 || !fp16) continue;
        EXPECT_NEAR(bf16->output_token.value / fp16->output_token.value, 1, 0.02) << one.name();
        EXPECT_NEAR(bf16->prefill_seconds / fp16->prefill_seconds, 1, 0.02) << one.name();
      }
}

TEST_F(ServingFloors, LongerPromptsAndNarrowerDevicesAreNoFaster) {
  for (const char* device : {"nvidia_h100_sxm5_80gb", "amd_instinct_mi300x_192gb"}) {
    double before = 0;
    for (std::int64_t input = 64; input <= 131'072; input *= 4) {
      const auto made = estimate({"llama3-8b", device, "bf16", 1, input, 1}, &fits_);
      ASSERT_TRUE(made) << made.error().text();
      EXPECT_GT(made->first_token.value, before) << device << " " << input;
      before = made->first_token.value;
    }
  }
}

}  // namespace
}  // namespace aaco::estimation
