#include "analytics/kernel_pace.h"

#include <algorithm>
#include <map>
#include <utility>

namespace aaco::analytics::trace_time {
namespace {

// Our own judgement, all of them: chosen so that scatter and a few slow executions are no change of pace.
constexpr std::size_t kMinPoints = 8;        // of a kind, below which it has no course
constexpr std::size_t kMinEndPoints = 2;     // in the first and in the last quarter of the time
constexpr double kEnd = 0.25;                // of the device's time: its beginning, and its end
constexpr double kSlower = 1.05;             // late over early: the kind slows down
constexpr double kMinSlowing = 1.08;         // of all that do, weighted by time
constexpr double kConcordant = 0.65;         // of the pairs of points: the later one is slower. A single step reaches 0.69
constexpr double kMinTime = 0.6;             // of the time that can be judged
constexpr double kMinJudged = 0.5;           // of the kernel time
constexpr double kOneFamily = 0.9;           // of the slowing time: more than this may be a matter of that family
constexpr double kOneKernel = 0.9;           // of the slowing time: more than this is a matter of that kernel
constexpr std::size_t kMinOfFamily = 3;      // kernels of one family that slow down together, as a clock slows them
constexpr double kAlike = 0.1;               // of their mean slowdown: how far these may be from it
constexpr double kFewGroupsTime = 0.1;       // of the span
constexpr double kFewGroupsMeanNs = 20'000;  // a shorter kernel is a matter of its launch
constexpr double kFewGroups = 0.5;           // of the units

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_rising(const std::vector<PacePoint>& points) {
  double rising = 0, pairs = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      ++pairs;
      rising += points[j].mean_ns > points[i].mean_ns ? 1 : points[j].mean_ns == points[i].mean_ns ? 0.5 : 0;
    }
  return rising >= kConcordant * pairs;
}

struct Ends {
  double early_ns = 0, late_ns = 0;
};

std::optional<Ends> ends_of(const EqualKernels& kernels, double first_ns, double last_ns) {
  if (kernels.points.size() < kMinPoints) return std::nullopt;
  std::vector<double> early, late;
  for (const PacePoint& point : kernels.points) {
    const double place = (static_cast<double>(point.start_ns) - first_ns) / (last_ns - first_ns);
    if (place < kEnd) early.push_back(point.mean_ns);
    if (place >= 1 - kEnd) late.push_back(point.mean_ns);
  }
  if (early.size() < kMinEndPoints || late.size() < kMinEndPoints) return std::nullopt;
  const Ends ends{median_of(std::move(early)), median_of(std::move(late))};
  return ends.early_ns > 0 ? std::optional(ends) : std::nullopt;
}

// The slowing executions of one name.
struct Slowing {
  double time_ns = 0, early_ns = 0, late_ns = 0;
  void add(double time, double early, double late) { time_ns += time, early_ns += early, late_ns += late; }
};

// One family may slow down for its own reasons (longer sequences); several of its kernels by the same factor do not.
bool are_alike(const std::map<std::uint32_t, Slowing>& names, double mean) {
  return names.size() >= kMinOfFamily && std::all_of(names.begin(), names.end(), [&](const auto& one) {
           const double slowdown = one.second.late_ns / one.second.early_ns;
           return slowdown >= (1 - kAlike) * mean && slowdown <= (1 + kAlike) * mean;
         });
}

}  // namespace

std::size_t KernelPace::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a over words
  for (const std::int64_t part : key.parts) hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x100000001b3U;
  return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

void KernelPace::close_point(Kind& kind) {
  auto& points = kind.kernels.points;
  points.push_back({kind.open_start_ns, static_cast<double>(kind.open_sum_ns) / static_cast<double>(kind.open_count)});
  kind.open_count = kind.open_sum_ns = 0;
  if (points.size() < kMaxPoints) return;
  for (std::size_t i = 0; i < points.size() / 2; ++i)
    points[i] = {points[2 * i].start_ns, (points[2 * i].mean_ns + points[2 * i + 1].mean_ns) / 2};
  points.resize(points.size() / 2);
  kind.per_point *= 2;
}

void KernelPace::add(const trace::KernelRow& row, std::string_view family) {
  if (row.end_ns < row.start_ns) return;
  const auto part = [](const std::optional<std::int64_t>& value) { return value.value_or(0); };
  const Key key{{row.rank, row.device, row.name.value, part(row.grid_x), part(row.grid_y), part(row.grid_z), part(row.block_x),
                 part(row.block_y), part(row.block_z)}};
  auto place = kinds_.find(key);
  if (place == kinds_.end()) {
    if (kinds_.size() >= kMaxKinds) return;
    place = kinds_.try_emplace(key).first;
    place->second.kernels.name = row.name;
    place->second.kernels.family = family;
    if (row.grid_x)
      place->second.kernels.group_count = std::max<std::int64_t>(1, *row.grid_x) * std::max<std::int64_t>(1, part(row.grid_y)) *
                                          std::max<std::int64_t>(1, part(row.grid_z));
  }
  Kind& kind = place->second;
  if (kind.kernels.count++ == 0) kind.kernels.first_start_ns = row.start_ns;
  kind.kernels.last_start_ns = row.start_ns;
  kind.kernels.sum_ns += row.end_ns - row.start_ns;
  if (kind.open_count == 0) kind.open_start_ns = row.start_ns;
  kind.open_sum_ns += row.end_ns - row.start_ns;
  if (++kind.open_count == kind.per_point) close_point(kind);
}

std::vector<EqualKernels> KernelPace::of(std::int32_t rank, std::int64_t device) const {
  std::vector<EqualKernels> own;
  for (const auto& [key, kind] : kinds_)
    if (key.parts[0] == rank && key.parts[1] == device) own.push_back(kind.kernels);
  std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) {
    return a.sum_ns != b.sum_ns           ? a.sum_ns > b.sum_ns
           : a.name.value != b.name.value ? a.name.value < b.name.value
                                          : a.group_count < b.group_count;
  });
  return own;
}

std::optional<SlowingKernels> slowing_kernels(const std::vector<EqualKernels>& kernels, std::int64_t first_ns,
                                              std::int64_t last_ns) {
  if (last_ns <= first_ns) return std::nullopt;
  double all_ns = 0, judged_ns = 0, slowing_ns = 0, early_ns = 0, late_ns = 0, excess_ns = 0;
  std::map<std::string, double> families, judged_families;
  std::map<std::uint32_t, Slowing> names;
  for (const EqualKernels& one : kernels) {
    if (one.family == "collective") continue;  // they take as long as the other ranks let them
    const auto time = static_cast<double>(one.sum_ns);
    all_ns += time;
    const auto ends = ends_of(one, static_cast<double>(first_ns), static_cast<double>(last_ns));
    if (!ends) continue;
    judged_ns += time;
    judged_families[one.family] += time;
    if (ends->late_ns < kSlower * ends->early_ns || !is_rising(one.points)) continue;
    slowing_ns += time;
    const auto count = static_cast<double>(one.count);
    early_ns += ends->early_ns * count;
    late_ns += ends->late_ns * count;
    excess_ns += std::max(0.0, time - ends->early_ns * count);
    families[one.family] += time;
    names[one.name.value].add(time, ends->early_ns * count, ends->late_ns * count);
  }
  if (slowing_ns <= 0 || judged_ns < kMinJudged * all_ns || slowing_ns < kMinTime * judged_ns) return std::nullopt;
  if (late_ns < kMinSlowing * early_ns) return std::nullopt;
  for (const auto& [name, of] : names)
    if (of.time_ns > kOneKernel * slowing_ns) return std::nullopt;
  for (const auto& [family, time] : families) {
    if (time <= kOneFamily * slowing_ns) continue;
    const double others = judged_ns - judged_families[family], slowing_others = slowing_ns - time;
    if (slowing_others < kMinTime * others || !are_alike(names, late_ns / early_ns)) return std::nullopt;
  }
  return SlowingKernels{static_cast<std::int64_t>(names.size()), slowing_ns / judged_ns, late_ns / early_ns, excess_ns};
}

std::optional<EqualKernels> few_groups(const std::vector<EqualKernels>& kernels, double unit_count, std::int64_t span_ns) {
  for (const EqualKernels& one : kernels) {  // the largest time first
    const auto time = static_cast<double>(one.sum_ns);
    if (one.family == "collective" || one.group_count <= 0 || static_cast<double>(one.group_count) >= kFewGroups * unit_count)
      continue;
    if (time < kFewGroupsTime * static_cast<double>(span_ns)) return std::nullopt;
    if (time >= kFewGroupsMeanNs * static_cast<double>(one.count)) return one;
  }
  return std::nullopt;
}

}  // namespace aaco::analytics::trace_time
