#include "estimation/serving/served_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::estimation {
namespace {

bool multiplies(const hardware::Device& device, std::string_view type) {
  return std::any_of(device.engines.begin(), device.engines.end(),
                     [&](const hardware::Engine& engine) { return engine.rate(type) != nullptr; });
}

bool is_four_bit_float(const std::string& type) { return type == "mxfp4" || type == "nvfp4"; }

}  // namespace

DecoderArchitecture costed_as(const DecoderArchitecture& model, const ServingRequest& request) {
  DecoderArchitecture out = model;
  if (request.weight_type.empty()) return out;
  out.kept = KeptShares();
  out.packed_bytes = 0;
  return out;
}

core::Result<std::string> fill_types(const hardware::Device& device, const ServingRequest& request, const ServingStack& stack,
                                     const ServingRules& rules, ServedModel& served) {
  const DecoderArchitecture& model = served.model;
  const bool as_published = request.weight_type.empty();
  const std::string weights = as_published ? model.weight_type : request.weight_type;
  AACO_ASSIGN(served.dense, weight_type_on(device, weights, rules));
  // Of what is not quantised: the device's other 16-bit type where it lacks bfloat16.
  const bool is_wide = served.dense.name == "fp32" || served.dense.name == "fp16" || served.dense.name == "bf16";
  const bool no_bf16 = !multiplies(device, "bfloat16") && multiplies(device, "float16") && served.dense.name != "bf16";
  AACO_ASSIGN(served.plain, weight_type_on(device, served.dense.name == "fp32" ? "fp32" : no_bf16 ? "fp16" : "bf16", rules));
  const std::string experts = as_published && !model.expert_type.empty() ? model.expert_type : weights;
  // Four-bit floats are for experts where a model has some.
  if (model.experts && is_four_bit_float(served.dense.name) && !model.expert_type.empty()) served.dense = served.plain;
  AACO_ASSIGN(served.experts, weight_type_on(device, experts, rules));
  // Four-bit floats were measured on a device that widens them.
  const bool as_measured = !is_four_bit_float(served.experts.name) || !served.experts.native;
  if (const AchievedRate* reached = rules.experts_rate(device.vendor, served.experts.name); reached != nullptr && as_measured) {
    served.experts.flops_per_s = served.experts.peak_flops_per_s * reached->ratio;
    served.experts.memory_ratio = reached->memory_ratio;
  }
  if (model.packed_bytes > 0) (model.expert_type.empty() ? served.dense : served.experts).bytes = model.packed_bytes;
  if (model.packed_bytes > 0 && model.expert_type.empty()) served.experts.bytes = model.packed_bytes;
  const std::string sixteen = is_wide && served.dense.name != "fp32" ? served.dense.name : no_bf16 ? "fp16" : model.plain_type;
  const bool narrow = served.dense.bytes <= 1.01 && stack.narrow_cache;
  const std::string published = as_published && !model.cache_type.empty() ? model.cache_type : narrow ? "fp8" : sixteen;
  AACO_ASSIGN(const WeightType cache,
              weight_type_on(device, request.cache_type.empty() ? published : request.cache_type, rules, "KV cache"));
  served.cache_bytes = cache.bytes;
  served.cache_flops_per_s = cache.peak_flops_per_s;
  return cache.name;
}

void add_type_notes(const ServedModel& served, const hardware::Device& device, ServingEstimate& out) {
  const auto is_used = [&](const std::string& type) {
    return served.dense.name == type || (served.model.experts && served.experts.name == type);
  };
  if (is_used("bf16") && !multiplies(device, "bfloat16"))
    out.notes.push_back(
        fmt::format("{} has no bfloat16 units: products are costed in {}; vLLM refuses bf16 there, use --dtype fp16", device.name,
                    device.computed_as("bfloat16")));
  for (const WeightType* type : {&served.dense, &served.experts}) {
    if (type->native || (type == &served.experts && (!served.model.experts || served.experts.name == served.dense.name)))
      continue;
    out.notes.push_back(fmt::format("{} does not multiply {}: weights keep {} and are widened to 16 bits for the products",
                                    device.name, type->name, type->name));
  }
}

tl::unexpected<core::Error> does_not_fit(const ServedModel& served, const hardware::Device& device, const ServingEstimate& out) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const ServingMemory& m = out.memory;
  const double cache = m.cache_bytes_per_token * static_cast<double>(out.load.input_tokens + out.load.output_tokens);
  std::string narrower;
  const double bytes = served.model.experts ? served.experts.bytes : served.dense.bytes;
  if (bytes > 1.1 && multiplies(device, "float8"))
    narrower = "narrower weights (--dtype fp8), ";
  else if (bytes > 0.6)
    narrower = "narrower weights (--dtype int4), ";
  return core::fail(
      core::ErrorCode::exhausted,
      fmt::format(
          "{} does not fit {} with {}: weights {:.1f} GiB, runtime {:.1f} GiB and one request's cache {:.2f} GiB per GPU are "
          "{:.1f} GiB, of {:.1f} GiB usable",
          out.model, out.device_id, to_string(out.plan), m.weight_bytes / kGiB, m.runtime_bytes / kGiB, cache / kGiB,
          (m.weight_bytes + m.runtime_bytes + cache) / kGiB, m.usable_bytes / kGiB),
      "use more GPUs (--tp, --pp), " + narrower + "or shorter requests");
}

}  // namespace aaco::estimation
