#include "analytics/kernel_work.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>

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
// Bytes of one count, in the order in which sources of traffic are preferred; those of one source add up. AMD: FETCH_SIZE and
// WRITE_SIZE are KiB at the fabric; from requests of the L2 (ROCm's counter_defs.yaml): a read moves 64 bytes, 32 or 128 where
// counted so, a write 32, 64 where counted so. NVIDIA: bytes of DRAM (Nsight Compute).
enum class TrafficSource : std::uint8_t { size, dram, dram_parts, requests };
struct CountedTraffic {
  std::string_view counter;
  TrafficSource source;
  double each;
};
constexpr std::array<CountedTraffic, 13> kTraffic = {{
    {"FETCH_SIZE", TrafficSource::size, 1024},
    {"WRITE_SIZE", TrafficSource::size, 1024},
    {"TCC_EA0_RDREQ_sum", TrafficSource::requests, 64},
    {"TCC_EA0_RDREQ_32B_sum", TrafficSource::requests, 32 - 64},
    {"TCC_EA0_WRREQ_sum", TrafficSource::requests, 32},
    {"TCC_EA0_WRREQ_64B_sum", TrafficSource::requests, 64 - 32},
    {"TCC_EA_RDREQ_sum", TrafficSource::requests, 64},
    {"TCC_EA_RDREQ_32B_sum", TrafficSource::requests, 32 - 64},
    {"TCC_EA_WRREQ_sum", TrafficSource::requests, 32},
    {"TCC_EA_WRREQ_64B_sum", TrafficSource::requests, 64 - 32},
    {"dram__bytes.sum", TrafficSource::dram, 1},
    {"dram__bytes_read.sum", TrafficSource::dram_parts, 1},
    {"dram__bytes_write.sum", TrafficSource::dram_parts, 1},
}};

constexpr std::string_view kWideReads = "TCC_BUBBLE_sum";
constexpr double kReadBytes = 64;

// What was counted of one dispatch on average.
struct Counted {
  double reads = 0, wide_reads = 0;          // requests of the L2; those of 128 bytes
  std::map<std::string_view, double> flops;  // by type
  std::map<TrafficSource, double> bytes;
  std::map<TrafficSource, std::string> traffic_counters;
  bool operations = false;  // any counter of operations was read
};

void count(std::string_view name, double mean, Counted& counted) {
  for (const CountedOperations& operation : kOperations)
    if (operation.counter == name) counted.flops[operation.dtype] += mean * operation.each, counted.operations = true;
  if (name == kWideReads) counted.wide_reads += mean;
  for (const CountedTraffic& traffic : kTraffic) {
    if (traffic.counter != name) continue;
    if (name.find("_RDREQ_sum") != std::string_view::npos) counted.reads += mean;
    counted.bytes[traffic.source] += mean * traffic.each;
    std::string& names = counted.traffic_counters[traffic.source];
    names += (names.empty() ? "" : " + ") + std::string(name);
  }
}

}  // namespace

std::string_view to_string(WorkSource source) { return source == WorkSource::shapes ? "shapes" : "counters"; }

void CounterWork::add(const trace::KernelCounterRow& row) {
  if (!(row.value >= 0)) return;
  Sum& sum = sums_[{row.rank, row.device, row.kernel_name.value}][row.counter.value];
  sum.value += row.value;
  ++sum.dispatches;
}

std::vector<GroupWork> CounterWork::finish(const std::vector<trace::KernelGroupRow>& groups) const {
  std::vector<GroupWork> list = counted(groups);
  std::erase_if(list, [](const GroupWork& group) {
    return !(group.flops > 0) || !(group.bytes > 0) || group.counters.find("_SIZE") == std::string::npos;
  });
  return list;
}

std::vector<GroupWork> CounterWork::counted(const std::vector<trace::KernelGroupRow>& groups) const {
  std::vector<GroupWork> list;
  for (const trace::KernelGroupRow& row : groups) {
    const auto sums = sums_.find({row.rank, row.device, row.kernel_name.value});
    if (sums == sums_.end() || row.kernel_count <= 0) continue;
    Counted each;
    std::int64_t dispatches = 0;
    // Per dispatch: several passes may have counted different numbers of them.
    for (const auto& [counter, sum] : sums->second) {
      count(names_.text({counter}), sum.value / static_cast<double>(sum.dispatches), each);
      dispatches = std::max(dispatches, sum.dispatches);
    }
    if (const auto requests = each.bytes.find(TrafficSource::requests); requests != each.bytes.end())
      requests->second += kReadBytes * std::min(each.wide_reads, each.reads);
    GroupWork group{row.rank, row.device, row.kernel_name, Family::other, {}, WorkSource::counters, 0, 0, 0, 0};
    double most = 0;
    for (const auto& [dtype, flops] : each.flops) {
      group.flops += flops;
      if (flops > most) group.dtype = dtype;
      most = std::max(most, flops);
    }
    if (!each.bytes.empty()) {
      group.bytes = std::max(0.0, each.bytes.begin()->second);
      group.counters = each.traffic_counters.begin()->second;
    }
    if (each.operations) group.counters += group.counters.empty() ? "SQ_INSTS_VALU" : " + SQ_INSTS_VALU";
    if (group.counters.empty()) continue;
    if (const auto family = fingerprint::family_from_string(names_.text(row.family))) group.family = *family;
    const auto number = static_cast<double>(dispatches);
    group.count = dispatches;
    group.time_ns = number * static_cast<double>(row.kernel_sum_ns) / static_cast<double>(row.kernel_count);
    group.flops *= number;
    group.bytes *= number;
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
