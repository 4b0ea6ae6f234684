#include "analytics/roofline/library_operators.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/roofline/operator_call.h"

namespace aaco::analytics::roofline {
namespace {

using core::Json;
using fingerprint::Family;

constexpr std::size_t kMaxRank = 5;

bool in_text(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Activations [.., K] times weights [N, K] or [K, N], both whole numbers of one type. Which of the two the weights are does not
// matter where K = N.
std::optional<OperatorWork> linear(const Call& call) {
  const Shape a = call.shape(0, 2, kMaxRank), b = call.shape(1, 2, 2);
  const Type *of_a = call.type(0), *of_b = call.type(1);
  if (a.empty() || b.empty() || of_a == nullptr || of_b == nullptr || of_a->bytes != of_b->bytes) return std::nullopt;
  const double k = a.back();
  double m = 1;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) m *= a[i];
  if (b[1] != k && b[0] != k) return std::nullopt;
  const double n = b[1] == k ? b[0] : b[1];
  const double output_bytes = of_a->bytes < 2 ? 2 : of_a->bytes;  // products of bytes are written as 16 bits
  OperatorWork work{2 * m * n * k, (m * k + k * n) * of_a->bytes + m * n * output_bytes, std::string(of_a->ours), Family::gemm};
  work.site = graph::GemmSite{1, whole(m), whole(n), whole(k), false, 0};
  return work;
}

// Arguments by position, from the schemas of flash-attn 2 and aiter.
struct Attention {
  std::string_view name;
  std::size_t causal;
  std::size_t lengths;  // of the tensor with the starts of the sequences, [sequences + 1]; 0: a batch of equal ones
  std::size_t longest;  // of the length of the longest
};
constexpr std::array<Attention, 5> kAttentions = {{{"flash_attn::_flash_attn_forward", 5, 0, 0},
                                                   {"flash_attn::_flash_attn_varlen_forward", 9, 3, 5},
                                                   {"aiter::mha_fwd", 5, 0, 0},
                                                   {"aiter::fmha_v3_fwd", 5, 0, 0},
                                                   {"aiter::mha_varlen_fwd", 12, 3, 5}}};

double seen_by(double queries, double keys, bool causal) {
  if (!causal) return keys;
  return queries <= keys ? keys - (queries - 1) / 2 : (keys + 1) / 2 * keys / queries;
}

std::optional<OperatorWork> attention(const Call& call, const Attention& schema) {
  const std::string_view causal = call.text(schema.causal);
  const Type* type = call.type(0);
  if ((causal != "True" && causal != "False") || type == nullptr) return std::nullopt;
  const bool varlen = schema.lengths != 0;
  const std::size_t rank = varlen ? 3 : 4;
  const Shape q = call.shape(0, rank, rank), k = call.shape(1, rank, rank), v = call.shape(2, rank, rank);
  if (q.empty() || k.empty() || v.empty()) return std::nullopt;
  double batch = varlen ? 1 : q[0], queries = q[rank - 3], keys = k[rank - 3];
  if (varlen) {
    // Sequences of equal lengths, or one: the lengths themselves are values of a tensor, which are not recorded.
    const Shape starts = call.shape(schema.lengths, 1, 1);
    const auto longest_q = call.number(schema.longest), longest_k = call.number(schema.longest + 1);
    if (starts.empty() || starts[0] < 2) return std::nullopt;
    batch = starts[0] - 1;
    const bool equal = longest_q && longest_k && batch * *longest_q == queries && batch * *longest_k == keys;
    if (batch != 1 && !equal) return std::nullopt;
    queries /= batch, keys /= batch;
  }
  const double heads = q[rank - 2], width = q[rank - 1], value_width = v[rank - 1];
  const double seen = seen_by(queries, keys, causal == "True"), output = batch * heads * queries * value_width;
  const double moved = batch * (heads * queries * width + k[rank - 2] * keys * (k[rank - 1] + value_width)) + output;
  OperatorWork work{2 * batch * heads * queries * seen * (width + value_width), moved * type->bytes, std::string(type->ours),
                    Family::attention};
  work.site = graph::AttentionSite{whole(batch), whole(heads), whole(k[rank - 2]), whole(queries),
                                   whole(keys),  whole(width), whole(value_width), causal == "True"};
  return work;
}

// Weights of fewer bits than a byte are packed: their shape is not the product's.
bool is_product(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords = {"gemm", "linear", "matmul", "scaled_mm", "::mm", "tgemm"};
  constexpr std::array<std::string_view, 9> kNot = {"moe", "grouped", "w4", "int4", "fp4", "gptq", "awq", "bias", "backward"};
  const auto in_name = [&](std::string_view word) { return in_text(name, word); };
  return std::any_of(kWords.begin(), kWords.end(), in_name) && std::none_of(kNot.begin(), kNot.end(), in_name);
}

}  // namespace

std::optional<OperatorWork> library_work(std::string_view name, const Json& arguments) {
  if (!in_text(name, "::")) return std::nullopt;
  const Call call(arguments);
  const auto schema =
      std::find_if(kAttentions.begin(), kAttentions.end(), [&](const Attention& one) { return one.name == name; });
  if (schema != kAttentions.end()) return attention(call, *schema);
  return is_product(name) ? linear(call) : std::nullopt;
}

}  // namespace aaco::analytics::roofline
