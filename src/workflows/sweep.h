#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/paper.h"
#include "workflows/run.h"

namespace aaco::workflows {

// The values to try; an empty list leaves what the run request says.
struct SweepRequest {
  RunRequest base;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> threads;
  std::vector<std::string> backends;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> dimensions;  // symbol -> sizes
};

struct SweepPoint {
  RunRequest request;
  std::string session_id;  // empty where it failed
  std::string session_path;
  std::string error;  // why it failed
  trace::Metrics metrics;
};

struct SweepOutcome {
  std::string id;
  std::string summary_path;        // the sweep's own session, which names the others
  std::vector<SweepPoint> points;  // that were tried
  std::size_t asked = 0;           // points there would be: more than were tried where the user ended it
  bool interrupted = false;
};

// One session for each combination and one of kind "sweep" with the curves. A point that fails is kept with its reason; the
// others go on. Where no point ran, the first one's error is the answer and no session is left; otherwise what ran stays, and the
// sweep's own session is left incomplete where it cannot be closed.
core::Result<SweepOutcome> sweep(const SweepRequest& request, const Services& services);

// Latency over throughput for each backend and thread count, with its knee, and a table of the points.
report::Paper sweep_paper(const SweepOutcome& outcome);
// The point with the highest throughput per latency ("power", Kleinrock 1979); none with fewer than three points.
std::optional<std::size_t> knee_of(const std::vector<report::PaperCurve::Point>& points);

}  // namespace aaco::workflows
