#include <cmath>

#include "estimation/serving.h"

namespace aaco::estimation {
namespace {

core::Json work_json(const StepWork& work) {
  core::Json classes = core::Json::object();
  for (std::size_t i = 0; i < kWorkClasses; ++i) {
    const ClassWork& one = work.classes[i];
    if (one.flops <= 0 && one.bytes <= 0) continue;
    classes.set(to_string(static_cast<WorkClass>(i)),
                core::Json::object(
                    {{"flops", one.flops}, {"bytes", one.bytes}, {"roofline_ns", one.seconds * 1e9}, {"kernels", one.kernels}}));
  }
  return classes;
}

core::Json memory_json(const ServingMemory& m) {
  const auto whole = [](double bytes) { return std::llround(bytes); };
  core::Json json = core::Json::object({{"device_bytes", whole(m.device_bytes)},
                                        {"usable_bytes", whole(m.usable_bytes)},
                                        {"weight_bytes", whole(m.weight_bytes)},
                                        {"runtime_bytes", whole(m.runtime_bytes)},
                                        {"requested_bytes", whole(m.requested_bytes)},
                                        {"cache_bytes_per_token", whole(m.cache_bytes_per_token)},
                                        {"serve.kv_capacity_count", whole(m.capacity_tokens)}});
  if (m.window > 0)
    json.set("window", core::Json::object({{"tokens", m.window},
                                           {"full_cache_bytes_per_token", whole(m.full_cache_bytes_per_token)},
                                           {"windowed_cache_bytes_per_token", whole(m.windowed_cache_bytes_per_token)}}));
  return json;
}

}  // namespace

core::Json to_json(const ServingEstimate& e) {
  core::Json terms = core::Json::object(), first = core::Json::object();
  for (std::size_t i = 0; i < kServingTerms; ++i) terms.set(to_string(static_cast<ServingTerm>(i)), e.terms[i] * 1e9);
  for (std::size_t i = 0; i < kFirstTokenTerms; ++i)
    first.set(to_string(static_cast<FirstTokenTerm>(i)), e.first_token_terms[i] * 1e9);
  core::Json metrics = core::Json::object({{"serve.ttft_ns", to_json(e.first_token)},
                                           {"serve.tpot_ns", to_json(e.output_token)},
                                           {"serve.request_ns", to_json(e.request)},
                                           {"serve.output_tokens_per_gpu_per_second", to_json(e.tokens_per_gpu_s)}});
  core::Json memory = memory_json(e.memory);
  core::Json load = core::Json::object({{"input_tokens", e.load.input_tokens},
                                        {"output_tokens", e.load.output_tokens},
                                        {"concurrency", e.load.concurrency},
                                        {"running_per_replica", e.running},
                                        {"disaggregated", e.load.disaggregated}});
  load.set_if("rate_per_s", e.load.rate);
  core::Json types = core::Json::object({{"weights", e.weight_type}, {"cache", e.cache_type}});
  if (!e.expert_type.empty()) types.set("experts", e.expert_type);
  core::Json json = core::Json::object({{"model", e.model},
                                        {"device", e.device_id},
                                        {"plan", core::Json::object({{"tensor", e.plan.tensor},
                                                                     {"pipeline", e.plan.pipeline},
                                                                     {"expert", e.plan.expert},
                                                                     {"replicas", e.plan.replicas},
                                                                     {"gpus", e.plan.gpus()}})},
                                        {"load", std::move(load)},
                                        {"types", std::move(types)},
                                        {"metrics", std::move(metrics)},
                                        {"serve.output_tokens_per_second", e.tokens_per_s},
                                        {"serve.requests_per_second", e.requests_per_s},
                                        {"prefill_ns", e.prefill_seconds * 1e9},
                                        {"decode_step_ns", e.decode_seconds * 1e9}});
  if (!e.stack.empty()) json.set("stack", e.stack);
  if (!e.expert_type.empty())
    json.set("expert_load", core::Json::object({{"routing", to_string(e.routing)},
                                                {"serve.expert_imbalance_ratio", e.decode.expert_imbalance},
                                                {"prefill_imbalance_ratio", e.prefill.expert_imbalance}}));
  json.set_if("serve.energy_per_token_joules", e.joules_per_token);
  json.set_if("prefill_gpus_per_decode_gpu", e.prefill_gpus_per_decode_gpu);
  json.set("memory", std::move(memory));
  json.set("decode_work", work_json(e.decode));
  json.set("prefill_work", work_json(e.prefill));
  json.set("terms", core::Json::object({{"output_token_ns", std::move(terms)}, {"first_token_ns", std::move(first)}}));
  json.set("notes", core::Json::texts(e.notes));
  return json;
}

}  // namespace aaco::estimation
