#pragma once

#include "core/json.h"
#include "report/model.h"

namespace aaco::report {

// What a page can draw fluently; beyond it, what a pixel cannot show is left out.
inline constexpr std::size_t kPageIterations = 20'000;
inline constexpr std::size_t kPageSpans = 40'000;
inline constexpr std::size_t kPageSeriesPoints = 4'000;

// Keeps at most about `limit` points: of each run of neighbours the fastest and the slowest, the first of each phase, and
// every disturbed one unless they are more than a quarter of the limit. Order is kept. A series within the limit stays as it is.
std::vector<IterationPoint> thin_iterations(const std::vector<IterationPoint>& points, std::size_t limit);
// Keeps the least and the greatest value of each run of neighbours.
Series thin_series(const Series& series, std::size_t limit);
// Keeps the longest spans.
std::vector<TimelineSpan> thin_timeline(const std::vector<TimelineSpan>& spans, std::size_t limit);

// The model with everything within the page's limits.
ReportModel thinned_for_page(const ReportModel& model);
// {"iterations": 100000, "timeline": ...}: how many there were, for what thinned_for_page() makes smaller; null where nothing is.
core::Json counts_before_thinning(const ReportModel& model);

}  // namespace aaco::report
