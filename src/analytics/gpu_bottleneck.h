#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analytics/bottleneck.h"
#include "analytics/confidence.h"
#include "analytics/gpu_limit.h"

// What limits a session that has GPU work: the classes of data/rules by where the time of its least busy device went.
namespace aaco::analytics::bottleneck {

// One device of a session.
struct GpuDevice {
  std::optional<double> busy_ns, span_ns;
  GpuLimitShares shares;  // of the span
};

// The device whose span was busy least, the first of equal ones. Empty where no device has both times and a span above 0.
std::optional<std::size_t> least_busy(std::span<const GpuDevice> devices);

// Parts of the kernel time by what limits the kernels (analytics/kernel_limit.h); they add up to 1.
struct KernelParts {
  double compute = 0, memory = 0, unknown = 1;
  double far = 0;  // of `unknown`: kernels whose work is known and far from both roofs
};
// From times of any unit; all unknown without any. `far` is a part of `unknown`.
KernelParts parts_of(double compute, double memory, double unknown, double far = 0);

// The limit of that device: what took the largest share of its span, kernel time divided by `parts`. Inconclusive if kernels of
// unknown limit took most, but kDeviceBusy if kernels took kMostlyBusy of the span. The confidence is headline_confidence() of
// kClearHeadline, kCloseHeadline or kBusyHeadline.
// Empty where nothing took any.
std::optional<Bottleneck> gpu_bottleneck(const GpuLimitShares& shares, const KernelParts& parts,
                                         const confidence::Table& confidences);

// Evidence of a class: its share is at least kClearTimes the next one, or not; kernels take most; the time of a host's threads
// where the trace has no device work.
inline constexpr std::string_view kClearHeadline = "headline.clear", kCloseHeadline = "headline.close",
                                  kBusyHeadline = "headline.busy", kHostHeadline = "headline.host";
// Of a headline that rests on this evidence: as in the table, but never above what unseen traces reach; 0.5 if it lacks it.
double headline_confidence(const confidence::Table& table, std::string_view evidence);
inline constexpr double kMostlyBusy = 0.5;
inline constexpr double kClearTimes = 2;

// Inconclusive, since the trace has no timeline (analytics/timeline.h): `why` is a sentence without its full stop.
Bottleneck without_timeline(std::string why);

}  // namespace aaco::analytics::bottleneck
