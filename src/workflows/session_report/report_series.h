#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/model.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// The pure steps from stored rows to what a report draws. Times become relative to `origin_ns`.

// At most about `limit` points: of each stretch the first, the slowest and every outlier stay, so that nothing a reader looks for
// is lost.
std::vector<report::IterationPoint> iteration_points(std::span<const trace::IterationRow> rows, const trace::NameTable& names,
                                                     std::int64_t origin_ns, std::size_t limit = 3000);

// Bins of equal width by Freedman and Diaconis' rule (1981), between the 0.1 and 99.5 % quantiles; what lies beyond is in the end
// bins.
std::vector<report::HistogramBin> histogram(const std::vector<double>& values, std::size_t most_bins = 60);

// One series a metric and entity, thinned to about `limit` points each by keeping every stretch's extremes.
std::vector<report::Series> telemetry_series(std::span<const trace::SystemEventRow> system,
                                             std::span<const trace::GpuEventRow> gpu, const trace::NameTable& names,
                                             std::int64_t origin_ns, std::size_t limit = 400);

// The unit that a metric's name ends in: "process.rss_bytes" -> "bytes"; empty where it names none.
std::string unit_of(std::string_view metric);

}  // namespace aaco::workflows
