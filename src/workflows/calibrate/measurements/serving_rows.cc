#include "workflows/calibrate/measurements/serving_rows.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using estimation::Kernel;

// "aiconfigurator:vllm-0.24.0" -> "vllm"; of what has no version the front, or all: "aiter:best-tuned" -> "aiter".
std::string stack_of(std::string_view source) {
  const std::size_t colon = source.find(':');
  if (colon == std::string_view::npos) return core::to_lower(source);
  const std::string_view behind = source.substr(colon + 1);
  const std::size_t dash = behind.find('-');
  const bool version =
      dash != std::string_view::npos && dash + 1 < behind.size() && behind[dash + 1] >= '0' && behind[dash + 1] <= '9';
  return core::to_lower(version ? behind.substr(0, dash) : source.substr(0, colon));
}

// The stack, and the kernel within it as the table names it.
std::string program_of(const MeasurementRow& row, std::string_view column) {
  const std::string kernel = core::to_lower(row.text(column)), stack = stack_of(row.text("source"));
  if (stack.empty() && kernel.empty()) return {};
  return stack + ":" + kernel;
}

core::Result<estimation::AttentionShape> heads_of(const MeasurementRow& row) {
  estimation::AttentionShape shape;
  AACO_ASSIGN(shape.batch, row.integer("batch"));
  AACO_ASSIGN(shape.heads, row.integer("heads"));
  AACO_ASSIGN(shape.kv_heads, row.integer("kv_heads"));
  AACO_ASSIGN(shape.head_dim, row.integer("head_dim"));
  AACO_ASSIGN(shape.kv_type, row.type("kv_dtype"));
  AACO_ASSIGN(shape.window, row.integer_or("window", 0));
  return shape;
}

// "balanced", or "power_law_1.2" by its exponent; what says neither ("tuner-random") is even.
core::Result<double> skew_of(const MeasurementRow& row) {
  constexpr std::string_view kPowerLaw = "power_law_";
  const std::string_view text = row.text("distribution");
  if (!text.starts_with(kPowerLaw)) return 0.0;
  const auto exponent = core::parse_f64(text.substr(kPowerLaw.size()));
  if (!exponent || !(*exponent > 0) || *exponent > 10)
    return row.wrong("distribution", "expected power_law_ and an exponent up to 10");
  return *exponent;
}

}  // namespace

core::Result<Kernel> decode_attention(const MeasurementRow& row) {
  AACO_ASSIGN(estimation::AttentionShape shape, heads_of(row));
  AACO_ASSIGN(const std::int64_t keys, row.integer("kv_len"));
  if (keys < 1) return row.wrong("kv_len", "expected a positive number");
  shape.prefill = false;
  shape.query = 1;
  shape.past = keys - 1;
  return Kernel{shape, {}, program_of(row, "kernel")};
}

core::Result<Kernel> prefill_attention(const MeasurementRow& row) {
  AACO_ASSIGN(estimation::AttentionShape shape, heads_of(row));
  AACO_ASSIGN(shape.query, row.integer("q_len"));
  AACO_ASSIGN(const std::int64_t keys, row.integer("kv_len"));
  if (keys < shape.query) return row.wrong("kv_len", "expected at least q_len");
  shape.past = keys - shape.query;
  return Kernel{shape, {}, program_of(row, "kernel")};
}

core::Result<Kernel> latent_attention(const MeasurementRow& row) {
  estimation::LatentAttentionShape shape;
  const std::string phase = core::to_lower(row.text("phase"));
  if (phase != "prefill" && phase != "decode") return row.wrong("phase", "expected prefill or decode");
  shape.prefill = phase == "prefill";
  AACO_ASSIGN(shape.batch, row.integer("batch"));
  AACO_ASSIGN(shape.heads, row.integer("heads"));
  AACO_ASSIGN(shape.query, row.integer("q_len"));
  AACO_ASSIGN(shape.keys, row.integer("kv_len"));
  if (shape.keys < shape.query) return row.wrong("kv_len", "expected at least q_len");
  AACO_ASSIGN(shape.kv_type, row.type("kv_dtype"));
  return Kernel{shape, {}, program_of(row, "kernel")};
}

core::Result<Kernel> experts(const MeasurementRow& row) {
  estimation::ExpertsShape shape;
  AACO_ASSIGN(shape.tokens, row.integer("tokens"));
  AACO_ASSIGN(shape.hidden, row.integer("hidden"));
  AACO_ASSIGN(shape.inter, row.integer("inter"));
  AACO_ASSIGN(shape.experts, row.integer("experts"));
  AACO_ASSIGN(shape.per_token, row.integer("topk"));
  AACO_ASSIGN(const std::int64_t gated, row.integer("gated"));
  if (gated != 0 && gated != 1) return row.wrong("gated", "expected 0 or 1");
  shape.gated = gated == 1;
  AACO_ASSIGN(shape.tensor, row.integer("tp"));
  AACO_ASSIGN(shape.expert, row.integer("ep"));
  AACO_ASSIGN(shape.skew, skew_of(row));
  return Kernel{shape, {}, program_of(row, "kernel")};
}

core::Result<Kernel> collective(const MeasurementRow& row) {
  constexpr std::array<std::string_view, 5> kOps{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"};
  estimation::CollectiveShape shape;
  shape.op = core::to_lower(row.text("kind"));
  if (shape.op == "custom_allreduce") shape.op = "all_reduce";  // a framework's own kernel: the backend says whose
  if (std::find(kOps.begin(), kOps.end(), shape.op) == kOps.end())
    return row.wrong("kind", "expected all_reduce, custom_allreduce, all_gather, reduce_scatter, all_to_all or send_recv");
  AACO_ASSIGN(shape.ranks, row.integer("ranks"));
  AACO_ASSIGN(shape.ranks_per_node, row.integer("ranks_per_node"));
  AACO_ASSIGN(shape.bytes, row.positive("bytes"));
  return Kernel{shape, {}, program_of(row, "backend")};
}

}  // namespace aaco::workflows
