#include "analytics/steps.h"

#include <algorithm>
#include <array>
#include <string>

#include "trace/api_domains.h"

namespace aaco::analytics::steps {
namespace {

constexpr std::size_t kMaxKernels = 1'000'000;  // of a rank's device
constexpr std::size_t kMaxRanges = 1'000'000;
constexpr std::size_t kMaxMarkers = 10'000;  // different names
constexpr double kMarkerCoverage = 0.5;      // of the kernels' time, to be taken for steps
constexpr double kAlikeCoverage = 0.05;      // ranges nested in each other cover nearly the same
constexpr std::size_t kMinPeriod = 4;        // kernels: a shorter one is a kernel in a loop
constexpr std::size_t kMinRanges = 3;

// Whether a range's name (without numbers) says that it is a step: "step #", "train_step", "Iteration". The optimizer's step is
// a part of one.
bool is_called_step(std::string_view stem) {
  constexpr std::array<std::string_view, 4> kWords = {"step", "iter", "iteration", "batch"};
  std::string word;
  bool is_step = false;
  for (std::size_t i = 0; i <= stem.size(); ++i) {
    const char c = i < stem.size() ? stem[i] : ' ';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) {
      word += static_cast<char>(c | 0x20);
      continue;
    }
    if (word.starts_with("optim") || word.starts_with("sched")) return false;
    is_step = is_step || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
    word.clear();
  }
  return is_step;
}

}  // namespace

std::string_view to_string(Method method) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "profiler_step", "marker", "kernel_period", "optimiser_step"};
  return kNames[static_cast<std::size_t>(method)];
}

StepFinder::Role StepFinder::role_of(const trace::ApiCallRow& row) {
  Role& role = roles_.try_emplace((std::uint64_t{row.domain.value} << 32) | row.name.value, Role::unseen).first->second;
  if (role != Role::unseen) return role;
  const std::string_view domain = names_.text(row.domain);
  if (names_.text(row.name).starts_with("ProfilerStep"))
    role = Role::step;
  else if (domain == "annotation" && names_.text(row.name).starts_with("Optimizer.step"))
    role = Role::optimiser;
  else if (domain == "python" && names_.text(row.name).starts_with("nn.Module: "))
    role = Role::module;
  else
    role = domain == "marker" || domain == "annotation"                                                     ? Role::marker
           : trace::is_gpu_runtime(domain) && names_.text(row.name).find("aunch") != std::string_view::npos ? Role::launch
                                                                                                            : Role::ignored;
  return role;
}

std::uint32_t StepFinder::stem_of(trace::NameId name) {
  if (const auto known = stems_.find(name.value); known != stems_.end()) return known->second;
  std::string stem;
  for (const char c : names_.text(name)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      stem += c;
    else if (!stem.ends_with('#'))
      stem += '#';
  }
  const std::uint32_t id = names_.intern(stem).value;
  if (stems_.size() < kMaxRanges) stems_.emplace(name.value, id);
  return id;
}

void StepFinder::add_call(const trace::ApiCallRow& row) {
  const Role role = role_of(row);
  if (row.end_ns > row.start_ns) {
    Range& all = calls_.try_emplace(row.rank, Range{row.start_ns, row.end_ns}).first->second;
    all = {std::min(all.start_ns, row.start_ns), std::max(all.end_ns, row.end_ns)};
  }
  if (role == Role::ignored || row.end_ns <= row.start_ns) return;
  if (role == Role::launch) {
    if (auto& list = launches_[row.rank]; list.size() < kMaxKernels) list.push_back(row.start_ns);
    return;
  }
  if (role == Role::module) {
    Forward& forward = forwards_[row.rank];
    if (row.start_ns >= forward.until_ns) ++forward.count, forward.until_ns = row.end_ns;
    return;
  }
  if (role == Role::optimiser)
    if (auto& list = optimiser_[{row.rank, row.name.value}]; list.size() < kMaxRanges) list.push_back({row.start_ns, row.end_ns});
  if (role == Role::step) {
    auto& list = profiler_steps_[row.rank];
    if (list.size() < kMaxRanges) list.push_back({row.start_ns, row.end_ns});
    return;
  }
  const std::pair key(row.rank, stem_of(row.name));
  if (markers_.size() >= kMaxMarkers && !markers_.contains(key)) return;
  auto& list = markers_[key];
  if (list.size() < kMaxRanges) list.push_back({row.start_ns, row.end_ns});
}

void StepFinder::add_kernel(const trace::KernelRow& row) {
  first_ns_ = std::min(first_ns_, row.start_ns);
  last_ns_ = std::max(last_ns_, row.end_ns);
  Kernels& kernels = kernels_[{row.rank, row.device}];
  if (kernels.names.size() < kMaxKernels) {
    kernels.names.push_back(row.name.value);
    kernels.starts_ns.push_back(row.start_ns);
    kernels.launches.push_back(row.correlation_id);
    const bool idle = kernels.end_ns != INT64_MIN && row.start_ns > kernels.end_ns;
    kernels.idle_ns.push_back(idle ? static_cast<float>(row.start_ns - kernels.end_ns) : 0.0F);
  }
  kernels.end_ns = std::max(kernels.end_ns, row.end_ns);
}

trace::IterationRow StepFinder::row_of(std::int32_t rank, std::int64_t number, Range range) {
  trace::IterationRow row;
  row.rank = rank;
  row.iteration = number;
  row.phase = names_.intern("step");
  row.start_ns = range.start_ns;
  row.duration_ns = range.end_ns - range.start_ns;
  return row;
}

Steps StepFinder::from_profiler_steps() {
  Steps steps;
  for (auto& [rank, ranges] : profiler_steps_) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start_ns < b.start_ns; });
    std::int64_t number = 0;
    std::int64_t until = INT64_MIN;
    for (const Range& range : ranges) {
      if (range.start_ns < until) continue;  // the device's own copy of the annotation, or a nested one
      until = range.end_ns;
      steps.iterations.push_back(row_of(rank, number++, range));
    }
  }
  if (steps.iterations.empty()) return steps;
  steps.method = Method::profiler_step;
  steps.confidence = 0.98;
  steps.explanation = "the profiler's step annotations";
  return steps;
}

// Whether kernels or their launches start within at least half of the ranges; true where the rank has none. A range that only the
// host fills is no step.
bool StepFinder::has_work(std::int32_t rank, const std::vector<Range>& ranges) const {
  std::vector<const std::vector<std::int64_t>*> starts;
  for (const auto& [key, kernels] : kernels_)
    if (key.first == rank && !kernels.starts_ns.empty()) starts.push_back(&kernels.starts_ns);
  if (starts.empty()) return true;
  const auto launches = launches_.find(rank);
  if (launches != launches_.end() && !launches->second.empty()) starts.push_back(&launches->second);
  std::int64_t until = INT64_MIN;  // of more kernels than are kept nothing is known
  for (const auto* list : starts) until = std::max(until, list->size() < kMaxKernels ? INT64_MAX : list->back());
  std::size_t known = 0, with_work = 0;
  for (const Range& range : ranges) {
    if (range.start_ns > until) continue;
    ++known;
    with_work += std::any_of(starts.begin(), starts.end(), [&](const auto* list) {
      const auto first = std::lower_bound(list->begin(), list->end(), range.start_ns);
      return first != list->end() && *first < range.end_ns;
    });
  }
  return 2 * with_work >= known;
}

Steps StepFinder::from_markers() {
  Steps steps;
  struct Leader {
    double coverage = 0;
    std::size_t count = 0;
    std::uint32_t stem = 0;
  };
  std::map<std::int32_t, Leader> best, named;  // by rank
  if (kernels_.empty())
    for (const auto& [rank, all] : calls_) {
      first_ns_ = std::min(first_ns_, all.start_ns);
      last_ns_ = std::max(last_ns_, all.end_ns);
    }
  const std::int64_t span = last_ns_ > first_ns_ ? last_ns_ - first_ns_ : 0;
  for (const auto& [key, ranges] : markers_) {
    if (ranges.size() < kMinRanges || span == 0 || !has_work(key.first, ranges)) continue;
    std::int64_t covered = 0;
    std::int64_t until = INT64_MIN;
    bool overlaps = false;
    for (const Range& range : ranges) {
      overlaps = overlaps || range.start_ns < until;
      until = range.end_ns;
      covered += std::max<std::int64_t>(0, std::min(range.end_ns, last_ns_) - std::max(range.start_ns, first_ns_));
    }
    const double coverage = static_cast<double>(covered) / static_cast<double>(span);
    auto& leader = best[key.first];
    // Where the host runs ahead of the device, its steps cover little of the device's time.
    if (auto& other = named[key.first]; !overlaps && coverage > other.coverage && is_called_step(names_.text({key.second})))
      other = {coverage, ranges.size(), key.second};
    if (overlaps || coverage < kMarkerCoverage) continue;
    const bool alike = coverage > leader.coverage - kAlikeCoverage && coverage < leader.coverage + kAlikeCoverage;
    if (alike ? ranges.size() < leader.count : coverage > leader.coverage) leader = {coverage, ranges.size(), key.second};
  }
  for (auto& [rank, leader] : best) {
    const bool covers = leader.count > 0;
    if (!covers) leader = named[rank];
    if (leader.count == 0) continue;
    std::int64_t number = 0;
    for (const Range& range : markers_[{rank, leader.stem}]) steps.iterations.push_back(row_of(rank, number++, range));
    steps.method = Method::marker;
    steps.confidence = covers ? 0.85 : 0.7;
    steps.explanation = "the range '" + std::string(names_.text({leader.stem})) +
                        (covers ? "' repeats and covers most of the time" : "' repeats and is named as a step");
  }
  return steps;
}

// What repeats within one launch or one forward pass is a layer of the model.
std::string StepFinder::why_layers(std::int32_t rank, const Kernels& kernels, std::size_t begin, std::size_t period) const {
  std::int64_t periods = 0, inside = 0;
  for (std::size_t i = begin; i + period <= kernels.launches.size(); i += period)
    if (periods++ > 0 && kernels.launches[i] != 0 && kernels.launches[i] == kernels.launches[i - 1]) ++inside;
  const std::string repeats = "the kernels repeat every " + std::to_string(period);
  if (periods > 1 && 2 * inside >= periods - 1) return repeats + " within one launched graph: its layers, not steps";
  const auto forward = forwards_.find(rank);
  if (forward != forwards_.end() && forward->second.count < periods)
    return repeats + ", " + std::to_string(periods) + " times in " + std::to_string(forward->second.count) +
           " forward passes of a model: its layers, not steps";
  return {};
}

Steps StepFinder::from_period() {
  Steps steps;
  std::map<std::int32_t, const Kernels*> busiest;  // by rank
  for (const auto& [key, kernels] : kernels_) {
    const Kernels*& leader = busiest[key.first];
    if (leader == nullptr || kernels.names.size() > leader->names.size()) leader = &kernels;
  }
  for (const auto& [rank, kernels] : busiest) {
    const auto period = period_of(kernels->names);
    if (!period || *period < kMinPeriod) continue;
    const auto& starts = kernels->starts_ns;
    const std::size_t first = first_of_period(kernels->idle_ns, *period);
    if (const std::string why = why_layers(rank, *kernels, first, *period); !why.empty()) {
      not_steps_ = why;
      continue;
    }
    std::int64_t number = 0;
    for (std::size_t i = first; i + *period <= starts.size(); i += *period) {
      const std::size_t next = i + *period;
      const std::int64_t end = next < starts.size() ? starts[next] : kernels->end_ns;
      if (end > starts[i]) steps.iterations.push_back(row_of(rank, number++, {starts[i], end}));
    }
    steps.method = Method::kernel_period;
    steps.confidence = 0.6;
    steps.explanation = "the sequence of kernels repeats every " + std::to_string(*period) + " kernels";
  }
  return steps;
}

// Of several optimizers the one that ran last ends the step.
Steps StepFinder::from_optimiser() {
  Steps steps;
  std::map<std::int32_t, const std::vector<Range>*> last;  // by rank
  for (const auto& [key, ranges] : optimiser_) {
    const std::vector<Range>*& leader = last[key.first];
    if (leader == nullptr || ranges.back().end_ns > leader->back().end_ns) leader = &ranges;
  }
  for (const auto& [rank, ranges] : last) {
    if (ranges->size() < 2) continue;
    std::int64_t number = 0, start = calls_.at(rank).start_ns;
    for (const Range& range : *ranges) {
      if (range.start_ns < start) continue;  // nested
      steps.iterations.push_back(row_of(rank, number++, {start, range.end_ns}));
      start = range.end_ns;
    }
    steps.method = Method::optimiser_step;
    steps.confidence = 0.9;
    steps.explanation = "each step ends with the optimizer's step";
  }
  return steps;
}

Steps StepFinder::finish() {
  Steps steps = from_profiler_steps();
  if (steps.method == Method::none) steps = from_markers();
  if (steps.method == Method::none) steps = from_period();
  if (steps.method == Method::none) steps = from_optimiser();
  if (steps.method == Method::none)
    steps.explanation = not_steps_.empty() ? "no step annotations, no repeating range and no repeating kernel sequence"
                                           : "no step annotations and no repeating range; " + not_steps_;
  return steps;
}

}  // namespace aaco::analytics::steps
