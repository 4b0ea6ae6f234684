#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "analytics/bottleneck.h"
#include "analytics/gpu_limit.h"
#include "trace/names.h"
#include "trace/rows.h"

// What limits a session that has GPU work: the classes of data/rules by where the time of its least busy device went.
namespace aaco::analytics::bottleneck {

// One device of a session.
struct GpuDevice {
  std::optional<double> busy_ns, span_ns;
  GpuLimitShares shares;  // of the span
};

// The device whose span was busy least, the first of equal ones. Empty where no device has both times and a span above 0.
std::optional<std::size_t> least_busy(std::span<const GpuDevice> devices);

// Share of kernel time in kernels that compute (matrix products, convolutions, attention); the others mostly move bytes. Empty
// without kernel time.
std::optional<double> computing_share(std::span<const trace::KernelGroupRow> kernels, const trace::NameTable& names);

// The limit of that device: what took the largest share of its span, kernel time divided by computing_share() (by halves where it
// is empty). The confidence is that share among all. Empty where nothing took any.
std::optional<Bottleneck> gpu_bottleneck(const GpuLimitShares& shares, std::optional<double> computing);

// Inconclusive, since the trace has no timeline (analytics/timeline.h): `why` is a sentence without its full stop.
Bottleneck without_timeline(std::string why);

}  // namespace aaco::analytics::bottleneck
