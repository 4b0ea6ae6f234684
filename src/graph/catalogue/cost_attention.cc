#include <algorithm>

#include "graph/catalogue/costs.h"

// Attention whose keys are not all read: by blocks, by pages, by windows (ONNX Runtime's ContribOperators.md). A pair of a query
// and a key counts as in cost_sequence.cc.
namespace aaco::graph::costs {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr double kSoftmaxAndScale = 6;

void count_pairs(CostContext& c, const AttentionSite& site) {
  const double pairs = static_cast<double>(site.batch) * static_cast<double>(site.heads) * static_cast<double>(site.queries) *
                       static_cast<double>(site.keys);
  c.out().flops += pairs * (kMac * static_cast<double>(site.head_dim + site.value_dim) + kSoftmaxAndScale);
  c.out().site = site;
}

}  // namespace

// SparseAttention(query, key, value, past key, past value, row indices [layouts, blocks + 1], column indices [layouts, used
// blocks],
// ..): of the square of blocks the used ones are computed, the same for every block of queries on average.
void sparse_attention(CostContext& c) {
  const Sizes q = c.dims(0), rows = c.dims(5), columns = c.dims(6), present = c.output_dims(1);
  const std::int64_t heads = c.node().int_or("num_heads", 0), groups = c.node().int_or("kv_num_heads", 0);
  if (c.failed()) return;
  if (q.size() != 3 || rows.size() != 2 || columns.size() != 2 || present.size() != 4 || heads < 1 || groups < 1 || rows[1] < 2)
    return c.fail("the layout or numbers of heads are missing");
  const auto blocks = static_cast<double>(rows[1] - 1);
  const double density = std::min(1.0, static_cast<double>(columns[1]) / (blocks * blocks));
  AttentionSite site;
  site.batch = q[0];
  site.heads = heads;
  site.kv_heads = groups;
  site.queries = q[1];
  site.keys = std::max<std::int64_t>(1, static_cast<std::int64_t>(density * static_cast<double>(present[2])));
  site.head_dim = site.value_dim = q[2] / (c.has(1) ? heads : heads + 2 * groups);
  site.causal = true;
  count_pairs(c, site);
  c.touch_all();
}

// PagedAttention(query [tokens, ..], key, value, key pages [pages, page, heads, size], value pages, ends [batch + 1], seen
// [batch], page table [batch, pages of one]): how many keys a text has is known at run time only; its pages hold at most that
// many.
void paged_attention(CostContext& c) {
  const Sizes q = c.dims(0), pages = c.dims(3), seen = c.dims(6), page_table = c.dims(7);
  const std::int64_t heads = c.node().int_or("num_heads", 0), groups = c.node().int_or("kv_num_heads", 0);
  if (c.failed()) return;
  if (q.size() != 2 || pages.size() != 4 || seen.size() != 1 || page_table.size() != 2 || heads < 1 || groups < 1 || seen[0] < 1)
    return c.fail("the pages or numbers of heads are missing");
  AttentionSite site;
  site.batch = seen[0];
  site.heads = heads;
  site.kv_heads = groups;
  site.queries = std::max<std::int64_t>(1, q[0] / seen[0]);
  if (__builtin_mul_overflow(page_table[1], pages[1], &site.keys)) return c.fail("it has too many pages");
  site.head_dim = site.value_dim = pages[3];
  site.causal = true;
  count_pairs(c, site);
  for (const std::size_t input : {0, 1, 2, 7}) c.read(input);
  const double element = element_bits(c.type(3)) / 8.0;
  const double width = static_cast<double>(groups) * static_cast<double>(pages[3]) * element;
  c.read_bytes(3, static_cast<double>(site.batch) * static_cast<double>(site.keys) * width);
  c.read_bytes(4, static_cast<double>(site.batch) * static_cast<double>(site.keys) * width);
  c.write(0);
  c.out().bytes_written += 2 * static_cast<double>(q[0]) * width;
}

// LongformerAttention(x [batch, length, width], weights [width, 3 width], ..): a token sees `window` on each side of it. What
// global tokens add is known at run time only.
void windowed_attention(CostContext& c) {
  const Sizes x = c.dims(0), weights = c.dims(1);
  const std::int64_t heads = c.node().int_or("num_heads", 0), window = c.node().int_or("window", 0);
  if (c.failed()) return;
  if (x.size() != 3 || weights.size() != 2 || heads < 1 || window < 1) return c.fail("the window or number of heads is missing");
  AttentionSite site;
  site.batch = x[0];
  site.heads = site.kv_heads = heads;
  site.queries = x[1];
  site.keys = std::min(x[1], 2 * std::min<std::int64_t>(window, INT32_MAX) + 1);
  site.head_dim = site.value_dim = x[2] / heads;
  site.projection_macs = c.elements(0) * static_cast<double>(weights[1]);
  c.out().flops = kMac * site.projection_macs;
  count_pairs(c, site);
  c.touch_all();
}

}  // namespace aaco::graph::costs
