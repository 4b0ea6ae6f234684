#include "estimation/serving/step_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "estimation/kernel.h"
#include "estimation/serving/collectives.h"
#include "estimation/serving/counts.h"

namespace aaco::estimation {
namespace {

constexpr double kActivationBytes = 2;    // 16 bits between kernels
constexpr double kVectorPasses = 8;       // norms, rotary positions and activation of a layer: reads and writes of a token's row
constexpr double kVectorKernels = 4;      // the same as fused kernels
constexpr double kExpertKernels = 6;      // routing, sorting, two grouped products, activation, sum
constexpr double kChoiceLatencyS = 7e-6;  // to choose a collective's algorithm

constexpr std::int64_t kMeasuredLatent = 512;  // values of a token's cache in DeepSeek's models, which alone were measured

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

struct Builder {
  const ServedModel& served;
  const StepTokens& tokens;
  StepWork work;

  // As measured kernels take, where there are some; else at the specification's rates.
  static ClassWork timed(double flops, double bytes, std::optional<double> measured, double specified, double times,
                         double kernels) {
    return {flops * times, bytes * times, measured.value_or(specified) * times, kernels * times,
            measured ? 0 : specified * times};
  }

  // rows x k times k x n, in every one of `times` layers.
  void product(WorkClass kind, const WeightType& type, double rows, double n, double k, double times) {
    if (times <= 0) return;
    const double flops = 2 * rows * n * k;
    const double bytes = n * k * type.bytes + rows * (n + k) * kActivationBytes;
    work[kind] += timed(flops, bytes, served.times.seconds({GemmShape{1, whole(rows), whole(n), whole(k)}, type.name}),
                        type.seconds(flops, bytes, served.bytes_per_s), times, 1);
    work[kind].peak_seconds += flops / type.peak_flops_per_s * times;
    work[kind].resident_bytes += n * k * type.bytes * times;
  }

  // A product of one part of the layers, of which a share keeps 16 bits.
  void part(double kept, double rows, double n, double k, double times) {
    product(WorkClass::products, served.dense, rows, n, k, times * (1 - kept));
    product(WorkClass::products, served.plain, rows, n, k, times * kept);
  }

  void projections() {
    const DecoderArchitecture& m = served.model;
    const double kept = m.kept.attention, layers = real(m.layers), tensor = real(served.plan.tensor), rows = tokens.rows;
    if (!m.latent) {
      const double kv_heads = std::max(1.0, real(m.kv_heads) / tensor);
      part(kept, rows, (real(m.heads) / tensor + 2 * kv_heads) * real(m.head_dim), real(m.hidden), layers);
      part(kept, rows, real(m.hidden), real(m.heads * m.head_dim) / tensor, layers);
      return;
    }
    const LatentAttention& l = *m.latent;
    const double query = real(m.heads * (l.key_dim + l.rotary_dim)) / tensor;
    part(kept, rows, real(l.query_rank + l.cache_rank + l.rotary_dim), real(m.hidden), layers);
    part(kept, rows, query, l.query_rank > 0 ? real(l.query_rank) : real(m.hidden), layers);
    part(kept, rows, real(m.heads * l.key_dim) / tensor, real(l.cache_rank), layers);
    part(kept, rows, real(m.heads * l.value_dim) / tensor, real(l.cache_rank), layers);
    part(kept, rows, real(m.hidden), real(m.heads * l.value_dim) / tensor, layers);
  }

  void feed_forward(double intermediate, double layers, double kept) {
    if (intermediate <= 0 || layers <= 0) return;
    const DecoderArchitecture& m = served.model;
    const double inner = intermediate / real(served.plan.tensor);
    part(kept, tokens.rows, (m.gated ? 2 : 1) * inner, real(m.hidden), layers);
    part(kept, tokens.rows, real(m.hidden), inner, layers);
    work[WorkClass::vectors].kernels += layers;
  }

  // Tokens of all ranks that share the experts.
  [[nodiscard]] double routed_rows() const {
    return tokens.rows * std::max(1.0, real(served.plan.expert) / real(served.plan.tensor));
  }

  [[nodiscard]] BusiestRank busiest(const ExpertRouting& routing) const {
    const ExpertSizes& e = *served.model.experts;
    return busiest_rank({real(e.count), real(e.per_token), real(served.plan.expert)}, routed_rows(), routing);
  }

  // Operations and bytes of one layer's experts on a rank with so much to do.
  [[nodiscard]] ClassWork of_rank(const BusiestRank& rank) const {
    const DecoderArchitecture& m = served.model;
    const double inner = real(m.experts->intermediate) / std::max(1.0, real(served.plan.tensor) / real(served.plan.expert));
    const double matrices = m.gated ? 3 : 2;
    ClassWork out;
    out.flops = 2 * matrices * inner * real(m.hidden) * rank.visits;
    out.bytes = rank.most_experts * matrices * inner * real(m.hidden) * served.experts.bytes +
                rank.visits * (2 * real(m.hidden) + 3 * inner) * kActivationBytes;
    out.seconds = served.experts.seconds(out.flops, out.bytes, served.bytes_per_s);
    return out;
  }

  // All ranks wait for the busiest. Tables of measured experts have even loads and those of power laws.
  void experts() {
    const DecoderArchitecture& m = served.model;
    const ExpertSizes& e = *m.experts;
    const double layers = real(m.expert_layers()), groups = real(served.plan.expert), tensor = real(served.plan.tensor);
    const ExpertRouting& routing = served.routing;
    const bool is_power_law = routing.kind == ExpertRouting::Kind::power_law;
    const BusiestRank rank = busiest(routing);
    const ClassWork one = of_rank(rank);
    const ExpertsShape shape{whole(routed_rows()),
                             m.hidden,
                             e.intermediate,
                             e.count,
                             e.per_token,
                             m.gated,
                             whole(tensor / groups),
                             whole(groups),
                             is_power_law ? routing.value : 0};
    auto measured = served.times.seconds({shape, served.experts.name});
    if (measured && !is_power_law) *measured *= one.seconds / of_rank(busiest({ExpertRouting::Kind::even, 0})).seconds;
    work[WorkClass::experts] += timed(one.flops, one.bytes, measured, one.seconds, layers, kExpertKernels);
    // At least the mean of the ranks' visits, and the weights of one token's experts.
    const double matrices = (m.gated ? 3 : 2) * real(e.intermediate) * real(m.hidden);
    const double parts = std::max(tensor, groups), chosen = real(e.per_token) / parts;
    work[WorkClass::experts].peak_seconds += 2 * matrices * chosen * routed_rows() / served.experts.peak_flops_per_s * layers;
    work[WorkClass::experts].resident_bytes += matrices * chosen * served.experts.bytes * layers;
    work.expert_imbalance = rank.imbalance;
    feed_forward(real(e.shared_intermediate), layers, m.kept.shared);
  }

  // Keys and values are read once for all queries of a group; a prompt's triangle of scores is computed, its cache written once.
  void attention() {
    const DecoderArchitecture& m = served.model;
    const double tensor = real(served.plan.tensor), heads = real(m.heads) / tensor;
    const double windowed = real(m.windowed_layers), full = real(m.layers) - windowed, window = real(m.window);
    const double value_bytes = cached_layer_bytes(served);
    const double dims = m.latent ? 2 * real(m.latent->cache_rank) + real(m.latent->rotary_dim) : 2 * real(m.head_dim);
    const double seen = full * tokens.cached + windowed * std::min(tokens.cached, window);
    ClassWork& out = work[WorkClass::attention];
    const double read = tokens.decoding * seen * value_bytes, multiplied = tokens.decoding * seen * heads * 2 * dims;
    const double specified = std::max(read / served.bytes_per_s, multiplied / served.plain.flops_per_s);
    if (tokens.decoding > 0)
      out += timed(multiplied, read, of_layers(full, windowed, {false, tokens.decoding, 1, tokens.cached}), specified, 1,
                   real(m.layers));
    out.peak_seconds += multiplied / served.cache_flops_per_s;
    out.resident_bytes += read;
    if (tokens.prompts <= 0) return;
    const double prompt_dims =
        m.latent ? real(m.latent->key_dim + m.latent->rotary_dim + m.latent->value_dim) : 2 * real(m.head_dim);
    const double triangle = tokens.prompt * tokens.prompt / 2;
    const double pairs = full * triangle + windowed * std::min(tokens.prompt * window, triangle);
    const double flops = tokens.prompts * pairs * heads * 2 * prompt_dims;
    const double bytes =
        tokens.prompts * tokens.prompt * real(m.layers) * (value_bytes + 2 * heads * real(m.head_dim) * kActivationBytes);
    out.peak_seconds += flops / served.cache_flops_per_s;
    const double computed = std::max(flops / served.plain.flops_per_s, bytes / served.bytes_per_s);
    out += timed(flops, bytes, of_layers(full, windowed, {true, tokens.prompts, tokens.prompt, tokens.prompt}), computed, 1, 0);
  }

  struct Attended {
    bool prefill = false;
    double sequences = 0, query = 1, keys = 0;
  };
  // Measured attention of all layers; empty where there are no measurements of one of its kinds.
  [[nodiscard]] std::optional<double> of_layers(double full, double windowed, const Attended& tokens_of) const {
    const DecoderArchitecture& m = served.model;
    const std::string cache = served.cache_bytes <= 1 ? "fp8" : "bf16";
    const std::int64_t heads = std::max<std::int64_t>(1, m.heads / served.plan.tensor), batch = whole(tokens_of.sequences),
                       query = whole(tokens_of.query), keys = std::max(whole(tokens_of.keys), query);
    if (m.latent) {
      if (m.latent->cache_rank != kMeasuredLatent || windowed > 0) return std::nullopt;
      const auto one = served.times.seconds({LatentAttentionShape{tokens_of.prefill, batch, heads, query, keys, cache}, "bf16"});
      return one ? std::optional(*one * full) : std::nullopt;
    }
    AttentionShape shape{tokens_of.prefill, batch, query,
                         keys - query,      heads, std::max<std::int64_t>(1, m.kv_heads / served.plan.tensor),
                         m.head_dim,        cache};
    double sum = 0;
    for (const auto& [layers, window] : {std::pair{full, std::int64_t{0}}, std::pair{windowed, m.window}}) {
      if (layers <= 0) continue;
      shape.window = window;
      const auto one = served.times.seconds({shape, "bf16"});
      if (!one) return std::nullopt;
      sum += *one * layers;
    }
    return sum;
  }

  void exchange() {
    const DecoderArchitecture& m = served.model;
    const double row = tokens.rows * real(m.hidden) * kActivationBytes;
    const double tensor = real(served.plan.tensor), groups = real(served.plan.expert);
    const bool across = groups > tensor;  // experts of several replicas together: dispatch and combine
    const Collective sum = all_reduce(row, tensor, served.link_bytes_per_s, kChoiceLatencyS, served.direct_links);
    const double sums = 2 * real(m.layers) - (across ? real(m.expert_layers()) : 0);
    ClassWork& out = work[WorkClass::exchange];
    const auto measured =
        tensor > 1 && served.direct_links
            ? served.times.seconds({CollectiveShape{"all_reduce", served.plan.tensor, served.plan.tensor, row}, "fp16"})
            : std::nullopt;
    out += timed(0, row * (tensor > 1 ? 2 : 0), measured, sum.seconds, sums, tensor > 1 ? 1 : 0);
    if (!measured) work.messages += sums * sum.messages;  // measured ones have their latency within
    if (across) {
      // The busiest rank receives most.
      const double received = row * real(m.experts->per_token) * work.expert_imbalance;
      const Collective sent = all_to_all(received, groups, served.link_bytes_per_s);
      const double times = 2 * real(m.expert_layers());
      out += timed(0, received, std::nullopt, sent.seconds, times, 1);
      work.messages += times * sent.messages;
    }
    const double stages = real(served.plan.pipeline) - 1;
    out += timed(0, row, std::nullopt, row / served.link_bytes_per_s, stages, 1);
    work.messages += stages;
  }
};

}  // namespace

std::string_view to_string(WorkClass kind) {
  switch (kind) {
    case WorkClass::products: return "products";
    case WorkClass::experts: return "experts";
    case WorkClass::attention: return "attention";
    case WorkClass::vectors: return "norms and activations";
    case WorkClass::exchange: return "collectives";
  }
  return "";
}

ClassWork& ClassWork::operator+=(const ClassWork& other) {
  flops += other.flops;
  bytes += other.bytes;
  seconds += other.seconds;
  kernels += other.kernels;
  specified += other.specified;
  peak_seconds += other.peak_seconds;
  resident_bytes += other.resident_bytes;
  return *this;
}

ClassWork StepWork::total() const {
  ClassWork sum;
  for (const ClassWork& one : classes) sum += one;
  return sum;
}

core::Result<WeightType> weight_type_on(const hardware::Device& device, const std::string& type, const ServingRules& rules,
                                        std::string_view what) {
  struct Known {
    std::string_view name;
    double bytes;
    std::string_view computed;
  };
  // Scales: one FP16 per 128 weights (GPTQ, AWQ), one byte per 32 (OCP MX), one per 16 (NVFP4).
  constexpr std::array kKnown{Known{"bf16", 2, "bfloat16"},
                              Known{"fp16", 2, "float16"},
                              Known{"fp32", 4, "float32"},
                              Known{"fp8", 1, "float8"},
                              Known{"int8", 1, "int8"},
                              Known{"int4", 0.5 + 2.0 / 128, ""},
                              Known{"mxfp4", 0.5 + 1.0 / 32, "float4"},
                              Known{"nvfp4", 0.5 + 1.0 / 16, "float4"}};
  std::string name = canonical_type(type);
  if (name == "fp4") name = "mxfp4";
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) { return one.name == name; });
  if (found == kKnown.end())
    return core::fail(core::ErrorCode::invalid_argument, fmt::format("unknown {} type '{}'", what, type),
                      "use bf16, fp16, fp32, fp8, int8, int4, mxfp4 or nvfp4");
  const auto named = [&](std::string_view registry) {
    return std::any_of(device.engines.begin(), device.engines.end(),
                       [&](const hardware::Engine& engine) { return engine.rate(registry) != nullptr; });
  };
  // Weights of a type that the device does not multiply are widened to 16 bits on the way.
  const bool multiplied = !found->computed.empty() && named(found->computed);
  const std::string wide = named("bfloat16") || !named("float16") ? "bfloat16" : "float16";
  const std::string computed = multiplied || found->bytes >= 2 ? std::string(found->computed) : wide;
  const auto peak = device.peak_ops_per_s(computed);
  if (!peak)
    return core::fail(core::ErrorCode::unsupported, device.id + " has no peak rate for " + computed, "add it to " + device.where);
  const AchievedRate achieved = rules.achieved_rate(device.vendor, canonical_type(device.computed_as(computed)));
  return WeightType{name,  found->bytes,          *peak * achieved.ratio,
                    *peak, achieved.memory_ratio, multiplied || found->computed.empty() || found->bytes >= 2};
}

double WeightType::seconds(double operations, double moved_bytes, double bytes_per_s) const {
  const double computing = operations / flops_per_s, moving = moved_bytes / (bytes_per_s * memory_ratio.value_or(1));
  return memory_ratio ? computing + moving : std::max(computing, moving);
}

StepWork step_work(const ServedModel& served, const StepTokens& tokens) {
  Builder builder{served, tokens, {}};
  const DecoderArchitecture& m = served.model;
  builder.projections();
  builder.feed_forward(real(m.intermediate), real(m.dense_layers()), m.kept.dense);
  if (m.experts) builder.experts();
  if (tokens.sampled > 0)
    builder.part(m.kept.head, tokens.sampled, real(m.vocabulary) / real(served.plan.tensor), real(m.width_of_tables()), 1);
  builder.attention();
  const double bytes = real(m.layers) * tokens.rows * real(m.hidden) * kActivationBytes * kVectorPasses;
  builder.work[WorkClass::vectors] += {0, bytes, bytes / served.bytes_per_s, kVectorKernels * real(m.layers)};
  builder.exchange();
  return builder.work;
}

}  // namespace aaco::estimation
