#include "analytics/step_time.h"

#include <algorithm>
#include <cmath>

namespace aaco::analytics::trace_time {

void Scatter::add(double value) {
  const double distance = value - mean;
  ++count;
  mean += distance / count;
  squares += distance * (value - mean);
}

void StepTimer::add(std::int32_t rank, std::int64_t device, const Work& work) {
  if (work.end_ns >= work.start_ns) work_[{rank, device}].push_back(work);
}

void StepTimer::add_gap(const trace::GapRow& row, const std::string& cause) {
  gaps_[{row.rank, row.device}].push_back({row.start_ns, row.end_ns, cause});
}

namespace {

// Shorter gaps are not asked for their cause (analytics/gaps.h, kDefaultThresholdNs).
constexpr std::int64_t kShortGapNs = 5'000;

// Idle time of a window that no gap with a cause covers.
struct Rest {
  double idle_ns = 0;
  std::int64_t short_ns = 0;  // of it, between pieces of work
};

// The last window that began at or before a time; the first one where none did.
std::size_t window_at(const std::vector<Window>& windows, std::int64_t time_ns) {
  const auto after = std::upper_bound(windows.begin(), windows.end(), time_ns,
                                      [](std::int64_t at, const Window& one) { return at < one.start_ns; });
  return static_cast<std::size_t>(after - windows.begin()) - (after == windows.begin() ? 0 : 1);
}

// Sorted work as beats: each window begins with one that has no work of its own.
void add_beats(const std::vector<Window>& windows, const std::vector<StepTimer::Work>& work, std::vector<Beat>& beats) {
  std::size_t next = 0;
  for (const Window& window : windows) {
    std::int64_t since = window.start_ns;
    trace::NameId name;
    std::int64_t own = 0;
    while (next < work.size() && work[next].start_ns < window.start_ns) ++next;
    for (; next < work.size() && work[next].start_ns < window.end_ns; ++next) {
      if (work[next].kind == WorkKind::copy) continue;
      beats.push_back({name, work[next].start_ns - since, own});
      own = work[next].end_ns - work[next].start_ns;
      name = work[next].name;
      since = work[next].start_ns;
    }
    beats.push_back({name, window.end_ns - since, own});
  }
}

}  // namespace

std::optional<PairedDeviation> paired_deviation(const StepTime& a, const trace::NameTable& names_a, const StepTime& b,
                                                const trace::NameTable& names_b) {
  if (a.beats.size() != b.beats.size() || a.beats.empty() || a.window_count != b.window_count) return std::nullopt;
  struct Both {
    Scatter period, work;
  };
  std::map<std::uint32_t, Both> scatters;
  for (std::size_t i = 0; i < a.beats.size(); ++i) {
    if (names_a.text(a.beats[i].name) != names_b.text(b.beats[i].name)) return std::nullopt;
    Both& both = scatters[a.beats[i].name.value];
    both.period.add(static_cast<double>(b.beats[i].period_ns - a.beats[i].period_ns));
    both.work.add(static_cast<double>(b.beats[i].work_ns - a.beats[i].work_ns));
  }
  const auto deviation = [&](Scatter Both::*member) {
    Scatter alone;  // a kernel that ran once says nothing of its own scatter: all of them together do
    double variance = 0;
    for (const auto& [name, both] : scatters)
      if ((both.*member).count > 1)
        variance += (both.*member).of_sum();
      else
        alone.add((both.*member).mean);
    return std::sqrt(variance + alone.of_sum());
  };
  return PairedDeviation{deviation(&Both::period) / a.window_count, deviation(&Both::work)};
}

std::vector<Window> StepTimer::windows_of(const DeviceKey& device, const std::vector<Work>& work) const {
  std::vector<Window> windows;
  if (windows_.empty()) {
    windows.push_back({work.front().start_ns, work.front().end_ns});  // sorted by start
  } else {
    const auto found = windows_.find(device.first);
    if (found == windows_.end()) return {};
    windows = found->second;
  }
  // Work launched in a step may end after the step did on the host: it still is that step's, until the next begins.
  for (const Work& one : work) {
    const std::size_t at = window_at(windows, one.start_ns);
    if (one.start_ns < windows[at].start_ns || windows[at].closed) continue;
    const std::int64_t next = at + 1 < windows.size() ? windows[at + 1].start_ns : INT64_MAX;
    windows[at].end_ns = std::max(windows[at].end_ns, std::min(one.end_ns, next));
  }
  return windows;
}

StepTime StepTimer::finish(double kernel_variance_ns2) {
  StepTime time;
  double kernel_sum = 0, variance = 0;
  for (auto& [device, list] : work_) {
    std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.start_ns < y.start_ns; });
    const auto windows = windows_of(device, list);
    std::vector<DeviceTimeFold> folds(windows.size());
    std::vector<Rest> rests(windows.size());
    const auto first = static_cast<std::size_t>(time.window_count);
    const auto idles = [&](const std::string& cause, std::size_t window, double ns) {
      time.idle_ns[cause] += ns;
      auto& of = time.idle_by_window[cause];
      of.resize(std::max(of.size(), first + windows.size()));
      of[first + window] += ns;
    };
    std::map<std::uint32_t, Scatter> gaps;  // by the work that ends them
    add_beats(windows, list, time.beats);
    for (const Work& one : list)
      for (std::size_t i = window_at(windows, one.start_ns); i < windows.size() && windows[i].start_ns < one.end_ns; ++i) {
        trace_time::Work part;
        part.kind = one.kind;
        part.start_ns = std::max(one.start_ns, windows[i].start_ns);
        part.end_ns = std::min(one.end_ns, windows[i].end_ns);
        if (part.end_ns <= part.start_ns) continue;
        const auto idle = folds[i].add(part);
        if (!idle) continue;
        gaps[one.name.value].add(static_cast<double>(idle->end_ns - idle->start_ns));
        if (idle->end_ns - idle->start_ns < kShortGapNs) rests[i].short_ns += idle->end_ns - idle->start_ns;
      }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const auto part = folds[i].finish();
      const auto span = static_cast<double>(std::max<std::int64_t>(0, windows[i].end_ns - windows[i].start_ns));
      time.span_ns += span;
      time.span_by_window.push_back(span);
      time.compute_ns += static_cast<double>(part.compute_ns);
      const auto exposed = static_cast<double>(part.exposed_collective_ns);
      time.exposed_collective_ns += exposed;
      time.exposed_copy_ns += static_cast<double>(part.busy_ns - part.compute_ns) - exposed;
      rests[i].idle_ns = span - static_cast<double>(part.busy_ns);
      kernel_sum += static_cast<double>(part.kernel_sum_ns);
    }
    for (const auto& gap : gaps_[device])
      for (std::size_t i = window_at(windows, gap.start_ns); i < windows.size() && windows[i].start_ns < gap.end_ns; ++i) {
        const double part = static_cast<double>(std::min(gap.end_ns, windows[i].end_ns)) -
                            static_cast<double>(std::max(gap.start_ns, windows[i].start_ns));
        if (part <= 0) continue;
        idles(gap.cause, i, part);
        rests[i].idle_ns -= part;
      }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const double rest = std::max(0.0, rests[i].idle_ns), small = std::min(rest, static_cast<double>(rests[i].short_ns));
      idles(kShortGaps, i, small);
      if (rest > small) idles(kOutsideWork, i, rest - small);
    }
    for (const auto& [name, scatter] : gaps) variance += scatter.of_sum();
    time.window_count += static_cast<double>(windows.size());
  }
  if (time.window_count <= 0) return {};
  const double busy_share =
      kernel_sum > 0 ? time.compute_ns / kernel_sum : 0;  // of a kernel's time that is not hidden by another
  time.variance_ns2 = (variance + kernel_variance_ns2 * busy_share * busy_share) / (time.window_count * time.window_count);
  for (double* value : {&time.span_ns, &time.compute_ns, &time.exposed_copy_ns, &time.exposed_collective_ns})
    *value /= time.window_count;
  for (auto& [cause, ns] : time.idle_ns) ns /= time.window_count;
  for (auto& [cause, list] : time.idle_by_window) list.resize(static_cast<std::size_t>(time.window_count));
  return time;
}

}  // namespace aaco::analytics::trace_time
