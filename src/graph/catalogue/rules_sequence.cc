#include <algorithm>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {

// RNN, GRU, LSTM: X [length, batch, features], with layout = 1 [batch, length, features].
void recurrent(ShapeContext& c) {
  const ElementType type = c.type(0);
  for (std::size_t output = 0; output < c.outputs(); ++output) c.set_type(output, type);
  const Shape* x = c.shape(0);
  if (x == nullptr) return;
  if (x->size() != 3) return c.problem("the input must have three dimensions");
  const Dimension directions = c.node().string_or("direction", "forward") == "bidirectional" ? 2 : 1;
  Dimension hidden;
  if (c.node().attribute("hidden_size") != nullptr)
    hidden = c.number("hidden_size", 0);
  else if (c.shape(2) != nullptr && c.shape(2)->size() == 3)
    hidden = c.shape(2)->back();  // R: [directions, gates x hidden, hidden]
  const bool batch_first = c.number("layout", 0) != 0;
  const Dimension &length = (*x)[batch_first ? 1 : 0], &batch = (*x)[batch_first ? 0 : 1];
  c.set(0, batch_first ? Shape{batch, length, directions, hidden} : Shape{length, directions, batch, hidden}, type);
  for (std::size_t output = 1; output < 3; ++output)
    c.set(output, batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden}, type);
}

// Q, K, V of [batch, heads, length, size] or [batch, length, heads x size]; K and V after the past, if there is one.
void attention_standard(ShapeContext& c) {
  const ElementType type = c.type(0);
  c.set_type(0, type);
  const Shape *q = c.shape(0), *k = c.shape(1), *v = c.shape(2);
  if (q == nullptr || k == nullptr || v == nullptr) return;
  if ((q->size() != 3 && q->size() != 4) || k->size() != q->size() || v->size() != q->size())
    return c.problem("Q, K and V must all have three or all have four dimensions");
  const bool flat = q->size() == 3;
  const std::int64_t q_heads = c.number("q_num_heads", 0), kv_heads = c.number("kv_num_heads", 0);
  if (flat && (q_heads < 1 || kv_heads < 1)) return c.problem("the numbers of heads are missing");
  const Dimension heads = flat ? Dimension(q_heads) : (*q)[1], groups = flat ? Dimension(kv_heads) : (*k)[1];
  const Dimension queries = (*q)[flat ? 1 : 2], keys = (*k)[flat ? 1 : 2];
  const Dimension key_size = flat ? divide((*k)[2], kv_heads) : (*k)[3], value_size = flat ? divide((*v)[2], kv_heads) : (*v)[3];
  const Dimension past = c.shape(4) != nullptr && c.shape(4)->size() == 4 ? (*c.shape(4))[2] : Dimension(0);
  const Dimension total = c.has(4) ? add(past, keys) : keys;
  c.set(0, flat ? Shape{(*q)[0], queries, multiply(value_size, q_heads)} : Shape{(*q)[0], heads, queries, value_size}, type);
  c.set(1, {(*q)[0], groups, total, key_size}, c.type(1));
  c.set(2, {(*q)[0], groups, total, value_size}, c.type(2));
  c.set(3, {(*q)[0], heads, queries, total}, type);
}

void attention(ShapeContext& c) {
  const bool quantised = c.node().op_type == "QAttention";
  const ElementType type = quantised ? c.type(2) : c.type(0);
  c.set_type(0, type);
  const Shape *x = c.shape(0), *weights = c.shape(1);
  if (x == nullptr || x->size() != 3 || weights == nullptr || weights->size() != 2) return;
  const Ints sizes = c.node().ints_or("qkv_hidden_sizes", {});
  const Dimension value_width = sizes.size() == 3 ? Dimension(sizes[2]) : divide((*weights)[1], 3);
  c.set(0, {(*x)[0], (*x)[1], value_width}, type);
  const std::int64_t heads = c.number("num_heads", 0);
  if (heads < 1) return;
  const Shape* past = c.shape(quantised ? 8 : 4);
  const Dimension before = past != nullptr && past->size() == 5 ? (*past)[3] : Dimension(0);
  c.set(1, {2, (*x)[0], heads, add(before, (*x)[1]), divide(value_width, heads)}, type);
}

void multi_head_attention(ShapeContext& c) {
  const ElementType type = c.type(0);
  for (std::size_t output = 0; output < c.outputs(); ++output) c.set_type(output, type);
  const Shape *q = c.shape(0), *k = c.shape(1), *v = c.shape(2);
  const std::int64_t heads = c.number("num_heads", 0);
  if (q == nullptr || heads < 1) return;
  if (q->size() == 5) {  // packed: [batch, length, heads, 3, size]
    c.set(0, {(*q)[0], (*q)[1], multiply((*q)[2], (*q)[4])}, type);
    return;
  }
  if (q->size() != 3) return c.problem("the query must have three or five dimensions");
  const bool one_step = c.node().op_type == "DecoderMaskedMultiHeadAttention";
  // Without a key, one token's query, key and value stand in a row.
  const Dimension queries = one_step && !c.has(1) ? divide(q->back(), 3) : q->back();
  Dimension width = queries, keys = (*q)[1];
  if (k != nullptr && k->size() == 5) keys = (*k)[1];
  if (k != nullptr && k->size() == 3) keys = (*k)[1];
  if (k != nullptr && k->size() == 4) keys = (*k)[2];
  if (v != nullptr && v->size() == 3) width = v->back();
  if (v != nullptr && v->size() == 4) width = multiply((*v)[1], (*v)[3]);
  c.set(0, {(*q)[0], (*q)[1], width}, type);
  const Shape* past = c.shape(one_step ? 5 : 6);
  const bool kept = past != nullptr && past->size() == 4, in_place = one_step && c.number("past_present_share_buffer", 0) != 0;
  const Dimension total = kept ? in_place ? (*past)[2] : add((*past)[2], keys) : keys;
  c.set(1, {(*q)[0], heads, total, divide(queries, heads)}, type);
  c.set(2, {(*q)[0], heads, total, divide(width, heads)}, type);
}

void group_query_attention(ShapeContext& c) {
  const ElementType type = c.type(0);
  c.set_type(0, type);
  const Shape* q = c.shape(0);
  const std::int64_t heads = c.number("num_heads", 0), groups = c.number("kv_num_heads", 0);
  if (q == nullptr || q->size() != 3 || heads < 1 || groups < 1) return;
  // Without a key, the query is Q, K and V packed in the last dimension.
  const Dimension size = divide(q->back(), c.has(1) ? heads : heads + 2 * groups);
  c.set(0, {(*q)[0], (*q)[1], multiply(size, heads)}, type);
  const Shape* past = c.shape(3);
  Dimension total = past != nullptr && past->size() == 4 ? add((*past)[2], (*q)[1]) : (*q)[1];
  if (const Value* given = c.value(6); given != nullptr && given->elements.size() == 1 && given->elements[0].known) {
    total = given->elements[0].dimension();
    if (past != nullptr && past->size() == 4 && (*past)[2].fixed()) total = std::max(total.size, (*past)[2].size);
  }
  const ElementType kept = c.has(3) ? c.type(3) : type;
  c.set(1, {(*q)[0], groups, total, size}, kept);
  c.set(2, {(*q)[0], groups, total, size}, kept);
}

// PackedAttention (tokens, hidden) with weights, PackedMultiHeadAttention with separate Q, K, V: all sequences in one row.
// As grouped queries, but past and present are one buffer.
void sparse_attention(ShapeContext& c) {
  const Shape *query = c.shape(0), *past = c.shape(3);
  c.set_type(0, c.type(0));
  if (past != nullptr) c.set(1, *past, c.type(3));
  if (c.shape(4) != nullptr) c.set(2, *c.shape(4), c.type(4));
  if (query == nullptr || query->size() != 3) return;
  if (c.has(1)) return c.set(0, *query, c.type(0));
  if (past != nullptr && past->size() == 4)
    c.set(0, {(*query)[0], (*query)[1], multiply(past->back(), c.number("num_heads", 0))}, c.type(0));
}

// Query [tokens, heads x size] (or with keys and values in its rows), and the pages, which are written in place.
void paged_attention(ShapeContext& c) {
  const Shape *query = c.shape(0), *pages = c.shape(3);
  c.set_type(0, c.type(0));
  if (query != nullptr && query->size() == 2 && pages != nullptr && pages->size() == 4)
    c.set(0, {(*query)[0], multiply((*pages)[3], c.number("num_heads", 0))}, c.type(0));
  if (pages != nullptr) c.set(1, *pages, c.type(3));
  if (c.shape(4) != nullptr) c.set(2, *c.shape(4), c.type(4));
}

void packed_attention(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* x = c.shape(0);
  if (x == nullptr) return;
  if (c.node().op_type == "PackedAttention") {
    const Shape* weights = c.shape(1);
    const Ints sizes = c.node().ints_or("qkv_hidden_sizes", {});
    if (weights == nullptr || weights->size() != 2 || x->size() != 2) return;
    return c.set(0, {(*x)[0], sizes.size() == 3 ? Dimension(sizes[2]) : divide((*weights)[1], 3)}, c.type(0));
  }
  if (x->size() == 4) return c.set(0, {(*x)[0], multiply((*x)[1], (*x)[3])}, c.type(0));
  const Shape* v = c.shape(2);
  if (x->size() == 2 && v != nullptr && v->size() == 2) c.set(0, {(*x)[0], (*v)[1]}, c.type(0));
}

void mixture_of_experts(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) != nullptr) c.set(0, *c.shape(0), c.type(0));
}

// com.microsoft.RelativePositionBias: table [buckets, heads], query and key lengths as scalars -> [1, heads, q, k].
void position_bias(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Value *queries = c.value(1), *keys = c.value(2);
  if (c.shape(0) == nullptr || c.shape(0)->size() != 2) return;
  const auto size = [](const Value* value) {
    return value != nullptr && value->elements.size() == 1 ? value->elements[0].dimension() : Dimension{};
  };
  c.set(0, {1, (*c.shape(0))[1], size(queries), size(keys)}, c.type(0));
}

void tensor_scatter(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) != nullptr) c.set(0, *c.shape(0), c.type(0));
}

}  // namespace aaco::graph::rules
