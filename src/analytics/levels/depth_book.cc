#include <algorithm>

#include "analytics/levels.h"
#include "trace/api_domains.h"

namespace aaco::analytics::levels {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::python: return "python";
    case Kind::operators: return "operator";
    case Kind::range: return "range";
    case Kind::runtime: return "runtime";
    case Kind::launch: return "launch";
    case Kind::kernel: return "kernel";
    case Kind::copy: return "copy";
    case Kind::collective: return "collective";
  }
  return "";
}

Kind host_kind(std::string_view domain, std::string_view name) {
  if (domain == "python") return Kind::python;
  if (domain == "cpu_op") return Kind::operators;
  if (!trace::is_gpu_runtime(domain)) return domain == "rccl" ? Kind::runtime : Kind::range;
  const bool launches = name.find("aunchKernel") != std::string_view::npos ||
                        name.find("LaunchCooperative") != std::string_view::npos ||
                        name.find("GraphLaunch") != std::string_view::npos;
  return launches ? Kind::launch : Kind::runtime;
}

std::int64_t DepthBook::place(const Track& lane, std::int64_t start_ns, std::int64_t end_ns) {
  std::vector<std::int64_t>& ends = ends_[lane].value;
  if (is_device_work(lane.kind)) {
    auto free = std::find_if(ends.begin(), ends.end(), [&](std::int64_t end) { return end <= start_ns; });
    if (free == ends.end() && std::ssize(ends) < kMaxOverlap) free = ends.insert(free, end_ns);
    if (free == ends.end()) --free;
    *free = std::max(*free, end_ns);
    return free - ends.begin();
  }
  while (!ends.empty() && ends.back() <= start_ns) ends.pop_back();
  if (std::ssize(ends) < kMaxDepth)
    ends.push_back(end_ns);
  else
    ends.back() = std::max(ends.back(), end_ns);
  return std::ssize(ends) - 1;
}

void DepthBook::seed(const Track& track, std::int64_t end_ns) {
  Track lane = track;
  lane.depth = 0;
  auto& ends = ends_[lane].value;
  const auto at = static_cast<std::size_t>(track.depth);
  if (ends.size() <= at) ends.resize(at + 1, INT64_MIN);
  ends[at] = std::max(ends[at], end_ns);
}

}  // namespace aaco::analytics::levels
