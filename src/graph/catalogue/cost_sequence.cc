#include <algorithm>

#include "graph/catalogue/costs.h"

// Attention over q queries and t keys: q t (size of keys) multiply-accumulates for the scores, q t (size of values) for the mix,
// and five operations a score for the softmax (Vaswani et al. 2017, section 3.2.1). Scores that a causal mask drops are counted,
// as they are where the same attention is written as MatMul, Softmax, MatMul; AttentionSite::causal tells who wants the half.
namespace aaco::graph::costs {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr double kSoftmax = 5;

double score_count(const AttentionSite& site) {
  return static_cast<double>(site.batch) * static_cast<double>(site.heads) * static_cast<double>(site.queries) *
         static_cast<double>(site.keys);
}

void settle(CostContext& c, const AttentionSite& site) {
  c.out().flops += score_count(site) * (kMac * static_cast<double>(site.head_dim + site.value_dim) + kSoftmax + 1);
  c.out().site = site;
}

// Keys or values that are kept: what is new beside what was there. Past and present of one size are one buffer: only what is new
// is written, and under a window only what it shows is read.
struct Kept {
  std::size_t past, present;  // input and output
  double fresh, held, seen;   // tokens
};

void move_kept(CostContext& c, const Kept& kept) {
  const bool out = c.has_output(kept.present);
  const bool shared = out && c.has(kept.past) && c.bytes(kept.past) == c.output_bytes(kept.present);
  const double held = std::max(1.0, kept.held);
  if ((shared || !out) && c.has(kept.past)) c.out().bytes_read -= c.bytes(kept.past) * (1 - std::min(1.0, kept.seen / held));
  if (out) c.out().bytes_written += c.output_bytes(kept.present) * (shared ? std::min(1.0, kept.fresh / held) : 1);
}

std::int64_t per(std::int64_t width, std::int64_t heads) { return heads > 0 ? width / heads : 0; }

}  // namespace

// Input, weights and bias of Operators.md, RNN/GRU/LSTM. A step and direction: gates x hidden x (features + hidden)
// multiply-accumulates, three operations a gate and those of the state's update.
void recurrent(CostContext& c) {
  const Sizes x = c.dims(0), weights = c.dims(1);
  if (c.failed()) return;
  if (x.size() != 3 || weights.size() != 3) return c.fail("the inputs must have three dimensions");
  const std::string& op = c.node().op_type;
  const bool lstm = op.find("LSTM") != std::string::npos, gru = op.find("GRU") != std::string::npos;
  const std::int64_t gates = lstm ? 4 : gru ? 3 : 1;
  // W: [directions, gates x hidden, features]; the dynamically quantised one is turned: [directions, features, gates x hidden].
  const bool turned = op.starts_with("DynamicQuantize");
  const auto hidden = static_cast<double>(c.node().int_or("hidden_size", weights[turned ? 2 : 1] / gates));
  const auto features = static_cast<double>(x[2]);
  const double cells = static_cast<double>(x[0]) * static_cast<double>(x[1]) * static_cast<double>(weights[0]);
  const double update = lstm ? 5 : gru ? 5 : 0;
  c.out().steps = static_cast<double>(x[c.node().int_or("layout", 0) != 0 ? 1 : 0]);
  c.out().flops = cells * hidden * (static_cast<double>(gates) * (kMac * (features + hidden) + 3) + update);
  c.touch_all();
}

// Every weight matrix of a layer and direction, [gates x hidden, width], multiplies each step of each sequence; then three
// operations a gate and those of the state's update, as above. Behind the input stand the states (of an LSTM two), then the
// weights.
void aten_recurrent(CostContext& c) {
  const Sizes x = c.dims(0);
  if (c.failed()) return;
  if (x.size() != 2 && x.size() != 3) return c.fail("the input must have two or three dimensions");
  const std::string& op = c.node().op_type;
  const double gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1, update = gates > 1 ? 5 : 0;
  const double cells = c.elements(0) / static_cast<double>(std::max<std::int64_t>(1, x.back()));
  double weights = 0, outputs = 0;
  for (std::size_t input = op == "lstm" ? 3 : 2; input < c.node().inputs.size(); ++input) {
    const Sizes matrix = c.dims(input);
    if (c.failed()) return;
    if (matrix.size() != 2) continue;  // a bias
    weights += c.elements(input);
    outputs += static_cast<double>(matrix[0]) / 2;  // of the input's and of the state's matrix one sum
  }
  if (weights == 0) return c.fail("the weights are missing");
  const bool batch_first = x.size() == 3 && c.node().int_or("batch_first", 0) != 0;
  c.out().steps = static_cast<double>(x[batch_first ? 1 : 0]) *
                  static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("num_layers", 1)));
  c.out().flops = cells * (kMac * weights + outputs * (3 + update / gates));
  c.touch_all();
}

void attention_standard(CostContext& c) {
  const Sizes q = c.dims(0), k = c.dims(1), v = c.dims(2);
  if (c.failed()) return;
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
    return c.fail("the inputs differ in rank");
  const bool flat = q.size() == 3;
  AttentionSite site;
  site.batch = q[0];
  site.heads = flat ? c.node().int_or("q_num_heads", 0) : q[1];
  site.kv_heads = flat ? c.node().int_or("kv_num_heads", 0) : k[1];
  site.queries = q[flat ? 1 : 2];
  site.keys = k[flat ? 1 : 2];
  site.head_dim = flat ? per(q[2], site.heads) : q[3];
  site.value_dim = flat ? per(v[2], site.kv_heads) : v[3];
  site.causal = c.node().int_or("is_causal", 0) != 0;
  if (c.has(4)) {
    const Sizes past = c.dims(4);
    if (past.size() == 4) site.keys += past[2];
  }
  if (site.heads < 1) return c.fail("the number of heads is missing");
  settle(c, site);
  c.touch_all();
}

void attention_projected(CostContext& c) {
  const Sizes x = c.dims(0), weights = c.dims(1);
  if (c.failed()) return;
  const bool packed = c.node().op_type == "PackedAttention";
  const std::int64_t heads = c.node().int_or("num_heads", 0);
  if (x.size() != (packed ? 2U : 3U) || weights.size() != 2 || heads < 1)
    return c.fail("the input or the number of heads is missing");
  const Sizes sizes = c.node().ints_or("qkv_hidden_sizes", {});
  const std::int64_t width = sizes.size() == 3 ? sizes[0] : weights[1] / 3;
  AttentionSite site;
  site.heads = site.kv_heads = heads;
  site.head_dim = width / heads;
  site.value_dim = per(sizes.size() == 3 ? sizes[2] : width, heads);
  site.causal = c.node().int_or("unidirectional", 0) != 0;
  if (packed) {  // all sequences in one row; token_offset is [batch, longest]
    const Sizes offsets = c.dims(3);
    if (c.failed() || offsets.size() != 2) return c.fail("the token offsets are missing");
    site.batch = offsets[0];
    site.queries = site.keys = offsets[1];
  } else {
    site.batch = x[0];
    site.queries = site.keys = x[1];
    const std::size_t past_input = c.node().op_type == "QAttention" ? 8 : 4;
    if (c.has(past_input))
      if (const Sizes past = c.dims(past_input); past.size() == 5) site.keys += past[3];
  }
  site.projection_macs = c.elements(0) * static_cast<double>(weights[1]);
  c.out().flops = kMac * site.projection_macs;
  settle(c, site);
  c.touch_all();
}

void multi_head_attention(CostContext& c) {
  const Sizes q = c.dims(0), out = c.output_dims();
  const std::int64_t heads = c.node().int_or("num_heads", 0);
  if (c.failed()) return;
  if (heads < 1 || out.empty() || q.size() < 2) return c.fail("the number of heads is missing");
  const bool one_step = c.node().op_type == "DecoderMaskedMultiHeadAttention";
  const std::size_t past_input = one_step ? 5 : 6;
  AttentionSite site;
  site.heads = site.kv_heads = heads;
  site.value_dim = out.back() / heads;
  site.causal = c.node().int_or("unidirectional", 0) != 0;
  if (one_step && !c.has(1)) {  // one token's queries, keys and values in a row
    site.batch = q[0];
    site.queries = site.keys = 1;
    site.head_dim = (q.back() - out.back()) / 2 / heads;
  } else if (q.size() == 2 || q.size() == 4) {  // packed: [tokens, ..]; token_offset is [batch, longest]
    const Sizes offsets = c.dims(4);
    if (c.failed() || offsets.size() != 2) return c.fail("the token offsets are missing");
    site.batch = offsets[0];
    site.queries = site.keys = offsets[1];
    site.head_dim = site.value_dim;
  } else {
    site.batch = q[0];
    site.queries = site.keys = q[1];
    site.head_dim = q.size() == 5 ? q[4] : q.back() / heads;
    if (c.has(1)) {
      const Sizes k = c.dims(1);
      if (k.size() == 3 || k.size() == 5) site.keys = k[1];
      if (k.size() == 4) site.keys = k[2];
    }
  }
  const Sizes past = c.has(past_input) ? c.dims(past_input) : Sizes{};
  const bool in_place = one_step && c.node().int_or("past_present_share_buffer", 0) != 0;
  if (past.size() == 4) site.keys = past[2] + (in_place ? 0 : site.keys);
  settle(c, site);
  if (!in_place) return c.touch_all();
  c.read_all();
  c.write(0);
  const auto held = static_cast<double>(site.keys);
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) move_kept(c, {past_input + which, 1 + which, 1, held, held});
}

void group_query_attention(CostContext& c) {
  const Sizes q = c.dims(0);
  const std::int64_t heads = c.node().int_or("num_heads", 0), groups = c.node().int_or("kv_num_heads", 0);
  if (c.failed()) return;
  if (q.size() != 3 || heads < 1 || groups < 1) return c.fail("the query or the numbers of heads are missing");
  AttentionSite site;
  site.batch = q[0];
  site.queries = site.keys = q[1];
  site.heads = heads;
  site.kv_heads = groups;
  site.head_dim = site.value_dim = q[2] / (c.has(1) ? heads : heads + 2 * groups);
  site.causal = true;
  const bool cached = c.has_output(1);
  if (cached) {
    const Sizes present = c.output_dims(1);
    if (present.size() == 4) site.keys = present[2];
  } else if (c.has(3)) {
    if (const Sizes past = c.dims(3); past.size() == 4) site.keys += past[2];
  }
  if (c.failed()) return;
  const auto fresh = static_cast<double>(q[1]), held = static_cast<double>(site.keys);
  const std::int64_t window = c.node().int_or("local_window_size", -1);
  if (window > 0) site.keys = std::min(site.keys, window);
  settle(c, site);
  if (c.node().int_or("do_rotary", 0) != 0)
    c.out().flops += 3 * static_cast<double>(site.batch) * static_cast<double>(site.queries) *
                     static_cast<double>(heads + groups) * static_cast<double>(site.head_dim);
  c.read_all();
  c.write(0);
  const double seen = window > 0 ? static_cast<double>(window) + fresh - 1 : held;
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) move_kept(c, {3 + which, 1 + which, fresh, held, seen});
}

void scaled_dot_product(CostContext& c) {
  const Sizes q = c.dims(0), k = c.dims(1), v = c.dims(2);
  if (c.failed()) return;
  if (q.size() < 2 || k.size() < 2 || v.size() < 2) return c.fail("the inputs have too few dimensions");
  AttentionSite site;
  for (std::size_t axis = 0; axis + 3 < q.size(); ++axis)
    if (__builtin_mul_overflow(site.batch, q[axis], &site.batch)) return c.fail("the batch is too large");
  site.heads = q.size() > 2 ? q[q.size() - 3] : 1;
  site.kv_heads = k.size() > 2 ? k[k.size() - 3] : 1;
  site.queries = q[q.size() - 2];
  site.keys = k[k.size() - 2];
  site.head_dim = q.back();
  site.value_dim = v.back();
  site.causal = c.node().int_or("is_causal", 0) != 0;
  settle(c, site);
  c.touch_all();
}

namespace {

// Steps of input [batch, time, features], or time first.
double steps_of(const CostContext& c, const Sizes& x) {
  if (x.size() != 3) return 1;
  return static_cast<double>(x[c.node().int_or("time_major", 0) != 0 ? 0 : 1]);
}

// Every weight of the inputs from `first` to `last` multiplies each step of each sequence.
double matrices(CostContext& c, std::size_t first, std::size_t last) {
  double weights = 0;
  for (std::size_t input = first; input <= last; ++input) weights += c.elements(input);
  return weights;
}

}  // namespace

// Input, then four matrices for it and four for the state (of a coupled one three each), peepholes, biases, the projection's
// matrix (tensorflow/lite/kernels/lstm.cc, unidirectional_ and bidirectional_sequence_lstm.cc). The basic kernel of LSTM has one
// matrix over input and state together: input, previous output, matrix, bias, previous state.
void tflite_lstm(CostContext& c) {
  constexpr std::size_t kBackwards = 17;  // behind the forward half's inputs
  const Sizes x = c.dims(0);
  if (c.failed()) return;
  if (x.empty()) return c.fail("the input is a scalar");
  const bool basic = c.node().op_type == "LSTM" && (c.node().int_or("basic", 0) != 0 || c.node().inputs.size() == 5);
  double weights = basic ? c.elements(2) : matrices(c, 1, 8) + c.elements(16);
  if (c.node().op_type == "BIDIRECTIONAL_SEQUENCE_LSTM")
    weights += matrices(c, 1 + kBackwards, 8 + kBackwards) + c.elements(16 + kBackwards);
  c.out().steps = steps_of(c, x);
  c.out().flops = kMac * weights * c.elements(0) / static_cast<double>(std::max<std::int64_t>(1, x.back()));
  if (basic && x.back() > 0) c.out().flops = kMac * weights * static_cast<double>(x[0]);
  c.touch_all();
}

// Two matrices behind the input, of the features and of the state (of SVDF: of the filter's memory): each of their weights is
// multiplied once a step of each sequence. The backward half has its two behind the forward half's bias and state.
void tflite_rnn(CostContext& c) {
  const Sizes x = c.dims(0);
  const bool both = c.node().op_type == "BIDIRECTIONAL_SEQUENCE_RNN";
  const double weights = matrices(c, 1, 2) + (both ? matrices(c, 5, 6) : 0);
  if (c.failed()) return;
  if (x.empty()) return c.fail("the input is a scalar");
  c.out().steps = steps_of(c, x);
  c.out().flops = kMac * weights * c.elements(0) / static_cast<double>(std::max<std::int64_t>(1, x.back()));
  c.touch_all();
}

}  // namespace aaco::graph::costs
