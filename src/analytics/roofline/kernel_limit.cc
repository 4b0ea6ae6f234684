#include "analytics/kernel_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analytics/work_rates.h"
#include "core/numbers.h"

namespace aaco::analytics::roofline {
namespace {

using Key = std::uint32_t;  // a kernel's name

// Work of one kernel by one source, all types together.
struct Sum {
  double time_ns = 0, flops = 0, bytes = 0;
  double computing_s = 0;  // at the peak of each type
  bool unknown_peak = false;
  std::string counters;
};
using Sums = std::map<Key, Sum>;

Sums sums_of(const std::vector<GroupWork>& groups, const trace::NameTable& names, const hardware::Device* device) {
  Sums sums;
  for (const GroupWork& group : groups) {
    Sum& sum = sums[group.kernel.value];
    sum.time_ns += group.time_ns;
    sum.flops += group.flops;
    sum.bytes += group.bytes;
    sum.counters = group.counters;
    if (!(group.flops > 0)) continue;
    const auto peak =
        device != nullptr ? device->peak_ops_per_s(computed_in(group, names.text(group.kernel), device)) : std::nullopt;
    if (peak && *peak > 0)
      sum.computing_s += group.flops / *peak;
    else
      sum.unknown_peak = true;
  }
  return sums;
}

// Of a kernel with outliers: the share of its time that the typical executions take together, scaled to all of them.
double typical_ratio(const trace::KernelGroupRow& row, KernelLimit& limit) {
  if (row.kernel_count < 2) return 1;
  const auto all = static_cast<double>(row.kernel_sum_ns), count = static_cast<double>(row.kernel_count);
  const double others = (all - static_cast<double>(row.kernel_max_ns)) / (count - 1);
  if (!(others > 0) || static_cast<double>(row.kernel_max_ns) < kOutlierTimes * others) return 1;
  limit.outlier_ns = static_cast<double>(row.kernel_max_ns);
  return others * count / all;
}

std::string rate(double bytes_per_s) { return fmt::format("{:.4g} GB/s", bytes_per_s * 1e-9); }

class Judge {
 public:
  Judge(const KnownWork& work, const trace::NameTable& names, const hardware::Device* device)
      : names_(names), shapes_(sums_of(work.shapes, names, device)), counters_(sums_of(work.counters, names, device)) {
    if (device != nullptr && device->memory.bytes_per_s && device->memory.bytes_per_s->value > 0)
      bandwidth_ = device->memory.bytes_per_s->value;
  }

  KernelLimit judge(const trace::KernelGroupRow& row) const {
    KernelLimit limit;
    limit.rank = row.rank;
    limit.device = row.device;
    limit.kernel = row.kernel_name;
    limit.family = row.family;
    limit.count = row.kernel_count;
    limit.time_ns = static_cast<double>(row.kernel_sum_ns);
    for (const Sums* sums : {&shapes_, &counters_}) {
      const auto found = sums->find(row.kernel_name.value);
      if (found == sums->end() || limit.flops || limit.bytes) continue;
      if (found->second.flops > 0) limit.flops = found->second.flops;
      if (found->second.bytes > 0) limit.bytes = found->second.bytes;
    }
    if (names_.text(row.family) == "collective") {
      limit.bound = KernelBound::communication;
      limit.evidence = LimitEvidence::collective;
      limit.text = "a collective; its time includes waiting for other ranks";
      return limit;
    }
    if (row.kernel_sum_ns <= 0) {
      limit.evidence = LimitEvidence::no_time;
      limit.text = "zero duration: no rate can be computed";
      return limit;
    }
    const double typical = typical_ratio(row, limit);
    const auto* counted = known(counters_, row);
    const auto* shaped = known(shapes_, row);
    if (counted != nullptr && counted->flops > 0 && counted->bytes > 0)
      decide(*counted, true, typical, limit);
    else if (shaped != nullptr)
      decide(*shaped, false, typical, limit);
    else if (counted != nullptr)
      decide_one_side(*counted, typical, limit);
    else
      limit.text = "neither operator shapes nor counters are known";
    if (limit.outlier_ns) describe_outlier(row, limit);
    return limit;
  }

 private:
  const Sum* known(const Sums& sums, const trace::KernelGroupRow& row) const {
    const auto found = sums.find(row.kernel_name.value);
    if (found == sums.end() || !(found->second.time_ns > 0)) return nullptr;
    // Counters are of some dispatches, each as good as another; shapes must cover the time that they are to explain.
    const bool covers = &sums == &counters_ || found->second.time_ns >= kKnownPart * static_cast<double>(row.kernel_sum_ns);
    return covers ? &found->second : nullptr;
  }

  void rates(const Sum& sum, double typical, KernelLimit& limit) const {
    const double seconds = sum.time_ns * typical * 1e-9;
    if (sum.flops > 0) limit.flops_per_s = sum.flops / seconds;
    if (sum.bytes > 0) limit.bytes_per_s = sum.bytes / seconds;
    if (sum.computing_s > 0 && !sum.unknown_peak) limit.compute_ratio = sum.computing_s / seconds;
    if (sum.bytes > 0 && bandwidth_) limit.memory_ratio = sum.bytes / *bandwidth_ / seconds;
  }

  void decide(const Sum& sum, bool counted, double typical, KernelLimit& limit) const {
    limit.work_from = counted ? sum.counters : "shapes";
    rates(sum, typical, limit);
    // A row-wise operator without counted operations has only its traffic.
    if (!limit.memory_ratio || (sum.flops > 0 && !limit.compute_ratio)) return without_roofs(limit);
    const double compute = limit.compute_ratio.value_or(0), memory = *limit.memory_ratio;
    const double reached = std::max(compute, memory);
    if (reached < (compute >= memory ? kFarFromPeak : kFarFromRoof)) {
      limit.evidence = LimitEvidence::far_from_both;
    } else {
      limit.bound = compute >= memory ? KernelBound::compute : KernelBound::memory;
      const bool near = reached >= kNearRoof;
      limit.evidence = counted ? (near ? LimitEvidence::counters_near : LimitEvidence::counters_below)
                               : (near ? LimitEvidence::shapes_near : LimitEvidence::shapes_below);
    }
    limit.text = fmt::format("{} of the peak rate and {} of the bandwidth ({}) by {}", core::format_percent(compute),
                             core::format_percent(memory), rate(*limit.bytes_per_s), limit.work_from);
    if (limit.bound == KernelBound::unknown)
      limit.text += ": far from both limits, so latency, occupancy or uncounted work limits it";
  }

  void decide_one_side(const Sum& sum, double typical, KernelLimit& limit) const {
    limit.work_from = sum.counters;
    rates(sum, typical, limit);
    if (!limit.memory_ratio && !limit.compute_ratio) return without_roofs(limit);
    const bool traffic = limit.memory_ratio.has_value();
    const double reached = traffic ? *limit.memory_ratio : *limit.compute_ratio;
    limit.evidence = reached >= kTrafficDecides ? LimitEvidence::traffic : LimitEvidence::one_side;
    if (reached >= kTrafficDecides) limit.bound = traffic ? KernelBound::memory : KernelBound::compute;
    limit.text = traffic ? fmt::format("{} of the bandwidth ({}) by {}", core::format_percent(reached), rate(*limit.bytes_per_s),
                                       limit.work_from)
                         : fmt::format("{} of the peak rate by {}", core::format_percent(reached), limit.work_from);
    if (reached < kTrafficDecides) limit.text += traffic ? "; its operations were not counted" : "; its traffic was not counted";
  }

  static void without_roofs(KernelLimit& limit) {
    limit.evidence = LimitEvidence::no_device;
    limit.text = "the device's limits are unknown";
    if (!limit.bytes_per_s) return;
    limit.text += fmt::format("; {} by {}", rate(*limit.bytes_per_s), limit.work_from);
    const bool high = *limit.bytes_per_s >= kTrafficOnlyBytesPerS;
    if (limit.work_from == "shapes" || !high || limit.flops_per_s.value_or(0) > kTrafficOnlyFlopsPerByte * *limit.bytes_per_s)
      return;
    limit.bound = KernelBound::memory;
    limit.evidence = LimitEvidence::traffic_only;
  }

  static void describe_outlier(const trace::KernelGroupRow& row, KernelLimit& limit) {
    const double others = static_cast<double>(row.kernel_sum_ns - row.kernel_max_ns) / static_cast<double>(row.kernel_count - 1);
    limit.text += fmt::format("; anomaly: 1 of {} executions took {}, the others {} on average", row.kernel_count,
                              core::format_duration(*limit.outlier_ns), core::format_duration(others));
  }

  const trace::NameTable& names_;
  std::optional<double> bandwidth_;
  Sums shapes_, counters_;
};

}  // namespace

std::string_view to_string(KernelBound bound) {
  constexpr std::array<std::string_view, 4> kNames = {"compute", "memory", "communication", "unknown"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view to_string(LimitEvidence evidence) {
  constexpr std::array<std::string_view, 12> kNames = {"counters_near", "counters_below", "shapes_near", "shapes_below",
                                                       "traffic",       "traffic_only",   "collective",  "far_from_both",
                                                       "one_side",      "no_work",        "no_time",     "no_device"};
  return kNames[static_cast<std::size_t>(evidence)];
}

std::vector<KernelLimit> kernel_limits(std::span<const trace::KernelGroupRow> kernels, const KnownWork& work,
                                       const trace::NameTable& names, const hardware::Device* device) {
  const Judge judge(work, names, device);
  std::vector<KernelLimit> limits;
  for (const trace::KernelGroupRow& row : kernels) limits.push_back(judge.judge(row));
  return limits;
}

LimitTimes limit_times(std::span<const KernelLimit> limits) {
  LimitTimes times;
  for (const KernelLimit& limit : limits) {
    if (limit.bound == KernelBound::communication) continue;
    // The time of outliers has another reason than the kernel's limit.
    const double outlier = limit.outlier_ns.value_or(0);
    times.unknown_ns += outlier;
    if (limit.evidence == LimitEvidence::far_from_both) times.far_ns += limit.time_ns - outlier;
    (limit.bound == KernelBound::compute  ? times.compute_ns
     : limit.bound == KernelBound::memory ? times.memory_ns
                                          : times.unknown_ns) += limit.time_ns - outlier;
  }
  return times;
}

}  // namespace aaco::analytics::roofline
