#include "analytics/kernel_work.h"

#include <algorithm>
#include <array>

namespace aaco::analytics::roofline {
namespace {

using fingerprint::Family;

// Operations of one count; AMD's documentation of the MI200 and MI300 counters: matrix counters count 512 operations, vector
// instructions work on a wave of 64.
struct CountedOperations {
  std::string_view counter, dtype;
  double each;
};
constexpr std::array<CountedOperations, 19> kOperations = {{
    {"SQ_INSTS_VALU_MFMA_MOPS_I8", "int8", 512},     {"SQ_INSTS_VALU_MFMA_MOPS_F8", "float8", 512},
    {"SQ_INSTS_VALU_MFMA_MOPS_F16", "float16", 512}, {"SQ_INSTS_VALU_MFMA_MOPS_BF16", "bfloat16", 512},
    {"SQ_INSTS_VALU_MFMA_MOPS_F32", "float32", 512}, {"SQ_INSTS_VALU_MFMA_MOPS_XF32", "tf32", 512},
    {"SQ_INSTS_VALU_MFMA_MOPS_F64", "float64", 512}, {"SQ_INSTS_VALU_ADD_F16", "float16", 64},
    {"SQ_INSTS_VALU_MUL_F16", "float16", 64},        {"SQ_INSTS_VALU_FMA_F16", "float16", 128},
    {"SQ_INSTS_VALU_TRANS_F16", "float16", 64},      {"SQ_INSTS_VALU_ADD_F32", "float32", 64},
    {"SQ_INSTS_VALU_MUL_F32", "float32", 64},        {"SQ_INSTS_VALU_FMA_F32", "float32", 128},
    {"SQ_INSTS_VALU_TRANS_F32", "float32", 64},      {"SQ_INSTS_VALU_ADD_F64", "float64", 64},
    {"SQ_INSTS_VALU_MUL_F64", "float64", 64},        {"SQ_INSTS_VALU_FMA_F64", "float64", 128},
    {"SQ_INSTS_VALU_TRANS_F64", "float64", 64},
}};
constexpr double kKibibyte = 1024;  // FETCH_SIZE and WRITE_SIZE

}  // namespace

std::string_view to_string(WorkSource source) { return source == WorkSource::shapes ? "shapes" : "counters"; }

void CounterWork::add(const trace::KernelCounterRow& row) {
  if (!(row.value >= 0)) return;
  Sum& sum = sums_[{row.rank, row.device, row.kernel_name.value}][row.counter.value];
  sum.value += row.value;
  ++sum.dispatches;
}

std::vector<GroupWork> CounterWork::finish(const std::vector<trace::KernelGroupRow>& groups) const {
  std::vector<GroupWork> list;
  for (const trace::KernelGroupRow& row : groups) {
    const auto counted = sums_.find({row.rank, row.device, row.kernel_name.value});
    if (counted == sums_.end() || row.kernel_count <= 0) continue;
    GroupWork group{row.rank, row.device, row.kernel_name, Family::other, {}, WorkSource::counters, 0, 0, 0, 0};
    std::map<std::string_view, double> by_type;
    std::int64_t dispatches = 0;
    // Per dispatch: several passes may have counted different numbers of them.
    for (const auto& [counter, sum] : counted->second) {
      const std::string_view name = names_.text({counter});
      const double mean = sum.value / static_cast<double>(sum.dispatches);
      dispatches = std::max(dispatches, sum.dispatches);
      if (name == "FETCH_SIZE" || name == "WRITE_SIZE") group.bytes += mean * kKibibyte;
      for (const CountedOperations& operation : kOperations)
        if (operation.counter == name) by_type[operation.dtype] += mean * operation.each;
    }
    double most = 0;
    for (const auto& [dtype, flops] : by_type) {
      group.flops += flops;
      if (flops > most) group.dtype = dtype;
      most = std::max(most, flops);
    }
    if (!(group.flops > 0) || !(group.bytes > 0)) continue;
    if (const auto family = fingerprint::family_from_string(names_.text(row.family))) group.family = *family;
    const auto count = static_cast<double>(dispatches);
    group.count = dispatches;
    group.time_ns = count * static_cast<double>(row.kernel_sum_ns) / static_cast<double>(row.kernel_count);
    group.flops *= count;
    group.bytes *= count;
    list.push_back(group);
  }
  return list;
}

std::optional<Placed> place(const GroupWork& work, const hardware::Device& device) {
  const auto peak = device.peak_ops_per_s(work.dtype);
  if (!peak || *peak <= 0 || !device.memory.bytes_per_s || device.memory.bytes_per_s->value <= 0 || work.time_ns <= 0)
    return std::nullopt;
  Placed placed;
  placed.work = work;
  placed.peak_flops_per_s = *peak;
  placed.bytes_per_s = device.memory.bytes_per_s->value;
  const double computing = work.flops / *peak, moving = work.bytes / placed.bytes_per_s;
  placed.compute_roof = computing >= moving;
  placed.ideal_ns = 1e9 * std::max(computing, moving);
  placed.reached_ratio = placed.ideal_ns / work.time_ns;
  return placed;
}

}  // namespace aaco::analytics::roofline
