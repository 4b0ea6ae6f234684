#include "analytics/anomaly.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/numbers.h"
#include "stats/changepoint.h"
#include "stats/robust.h"

namespace aaco::analytics::anomaly {
namespace {

constexpr std::size_t kMinCount = 5;  // values, below which nothing stands out from the rest
constexpr std::int64_t kMinIterations = 12;
constexpr double kMinDeviationRatio = 0.02;  // of the median: a series steadier than this is not told to be unsteady
constexpr std::int64_t kSameSpike = 3;       // iterations between two slow ones that still belong together
constexpr double kMinExtraRatio = 1e-4;  // of the time of all executions: slow ones of a kernel that cost less matter to nobody
constexpr double kFirstFactor = 10;      // times the slowest later execution, from which on a first one of a few is told
constexpr double kMinFirstNs = 1e6;      // that it takes longer
constexpr double kLevelRatio = 0.1;      // a change of level below this share is no anomaly

struct Normal {
  double median = 0, deviation = 0;
};

Normal normal_of(std::span<const double> values) {
  Normal normal{stats::median(values), stats::robust_deviation(values)};
  normal.deviation = std::max(normal.deviation, kMinDeviationRatio * std::abs(normal.median));
  return normal;
}

bool stands_out(double value, const Normal& normal, const Thresholds& thresholds) {
  const double distance = std::abs(value - normal.median);
  return distance > thresholds.deviations * normal.deviation && distance > thresholds.least_ratio * std::abs(normal.median);
}

double deviations_of(double value, const Normal& normal) {
  return normal.deviation > 0 ? (value - normal.median) / normal.deviation : 0;
}

bool nearer(double value, double to, double than) { return std::abs(value - to) < std::abs(value - than); }

// One past the last value of a shift at `from`, of which the next change is at `until`: up to there where most values are of the
// new level, otherwise to where they are back at the level before it, kBack in a row.
std::size_t end_of_shift(const std::vector<double>& values, const stats::ChangePoint& change, std::size_t from,
                         std::size_t until) {
  constexpr std::size_t kBack = 4;
  const auto begin = values.begin();
  const double usual =
      stats::median(std::vector<double>(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(until)));
  if (nearer(usual, change.after, change.before)) return until;
  std::size_t back = 0;
  for (std::size_t i = from; i < until; ++i) {
    back = nearer(values[i], change.before, change.after) ? back + 1 : 0;
    if (back == kBack) return i + 1 - kBack;
  }
  return until;
}

// A metric's value in the unit that the end of its name says.
std::string quantity(std::string_view metric, double value) {
  if (metric.ends_with("_ns")) return core::format_duration(value);
  if (metric.ends_with("_bytes")) return core::format_bytes(value);
  if (metric.ends_with("_ratio")) return core::format_percent(value);
  if (metric.ends_with("_per_second")) return fmt::format("{:.4g}/s", value);
  return fmt::format("{:.4g}", value);
}

// Most of the values are of the level: otherwise they are slow ones among usual ones, which spikes tell.
bool is_level(std::span<const double> values, double level) {
  constexpr double kNear = 0.25, kMost = 0.6;
  const auto near = std::count_if(values.begin(), values.end(), [&](double one) { return std::abs(one / level - 1) <= kNear; });
  return static_cast<double>(near) >= kMost * static_cast<double>(values.size());
}

// A shift that does not last to the end is said from where to where; the change back is not another one.
void add_level_shifts(std::span<const trace::IterationRow> rows, const std::vector<double>& values, const Normal& normal,
                      std::string_view unit, std::vector<Anomaly>& out) {
  const auto changes = stats::find_changes(values);
  std::optional<double> left;  // the level before the last one that was told
  const std::string_view noun = unit == "iteration" ? "call" : unit;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const stats::ChangePoint& change = changes[i];
    const double before = std::exchange(left, std::nullopt).value_or(0);
    if (change.before <= 0 || std::abs(change.after / change.before - 1) < kLevelRatio) continue;
    if (before > 0 && std::abs(change.after / before - 1) < kLevelRatio) continue;
    const auto from = static_cast<std::size_t>(change.index);
    const std::size_t until = i + 1 < changes.size() ? static_cast<std::size_t>(changes[i + 1].index) : values.size();
    const std::size_t end = end_of_shift(values, change, from, until);
    const auto &first = rows[from], &last = rows[std::max(end, from + 1) - 1];
    const bool lasts = end == values.size();
    // The level is a mean, which none of two groups took.
    const double after = stats::median({values.begin() + static_cast<std::ptrdiff_t>(from),
                                        values.begin() + static_cast<std::ptrdiff_t>(std::max(end, from + 1))});
    if (std::abs(after / change.before - 1) < kLevelRatio) continue;
    if (end < values.size() && !is_level(std::span(values).subspan(from, std::max(end, from + 1) - from), after)) continue;
    const std::string what = fmt::format("{} instead of {}", core::format_duration(after), core::format_duration(change.before));
    out.push_back(
        {Kind::level_shift,
         lasts ? fmt::format("{} {}", unit, first.iteration) : fmt::format("{}s {} to {}", unit, first.iteration, last.iteration),
         after, change.before, (after - change.before) / normal.deviation, first.start_ns,
         lasts ? first.start_ns : last.start_ns + last.duration_ns,
         lasts ? fmt::format("since {} {}, {}s take {}", unit, first.iteration, noun, what)
               : fmt::format("from {} {} to {}, {}s took {}", unit, first.iteration, last.iteration, noun, what)});
    left = change.before;
  }
}

// Slow ones up to the last value are a spike and a shift: a level where they are as many as kFewestOfALevel, otherwise a spike.
void tell_once(std::span<const trace::IterationRow> rows, std::vector<Anomaly>& found) {
  constexpr std::ptrdiff_t kFewestOfALevel = 12;
  const auto shift = std::find_if(found.begin(), found.end(), [](const Anomaly& one) {
    return one.kind == Kind::level_shift && one.end_ns == one.start_ns;  // it lasts
  });
  if (shift == found.end()) return;
  const auto begins = [&](const auto& one) { return one.start_ns == shift->start_ns; };
  const auto last_end = rows.back().start_ns + rows.back().duration_ns;
  const auto spike = std::find_if(found.begin(), found.end(), [&](const Anomaly& one) {
    return one.kind == Kind::spike && begins(one) && one.end_ns == last_end;
  });
  if (spike == found.end()) return;
  const auto slow = rows.end() - std::find_if(rows.begin(), rows.end(), begins);
  found.erase(slow < kFewestOfALevel ? shift : spike);
}

// Whether the slow ones of `count` executions come back at one distance from start to end: the same place of every step, so
// another problem size and no anomaly. A tenth of them may be missing.
bool recurs(const std::vector<std::size_t>& slow, std::size_t count) {
  constexpr std::size_t kFewestRounds = 3, kMaxPeriods = 64;
  for (std::size_t k = 1; k < std::min(slow.size(), kMaxPeriods); ++k) {
    const std::size_t period = slow[k] - slow.front();
    if (count / period < kFewestRounds) break;
    std::size_t missing = 0;
    for (const std::size_t at : slow) {
      const auto absent = [&](std::size_t place) { return !std::binary_search(slow.begin(), slow.end(), place); };
      if ((at >= period && absent(at - period)) || (at + period < count && absent(at + period))) ++missing;
    }
    if (10 * missing <= slow.size()) return true;
  }
  return false;
}

using Count = std::optional<std::int64_t>;
struct Counter {
  std::string_view name;
  Count trace::LoopBlockRow::*member;
  bool time = false;
};
constexpr std::array kCounters = {
    Counter{"caller_wait_ns", &trace::LoopBlockRow::caller_wait_ns, true},
    Counter{"process_wait_ns", &trace::LoopBlockRow::process_wait_ns, true},
    Counter{"process_system_ns", &trace::LoopBlockRow::process_system_ns, true},
    Counter{"minor_faults", &trace::LoopBlockRow::minor_faults},
    Counter{"major_faults", &trace::LoopBlockRow::major_faults},
    Counter{"involuntary_switches", &trace::LoopBlockRow::involuntary_switches},
    Counter{"migrations", &trace::LoopBlockRow::migrations},
    Counter{"storage_bytes", &trace::LoopBlockRow::storage_bytes},
    Counter{"throttled_ns", &trace::LoopBlockRow::throttled_ns, true},
    Counter{"steal_ns", &trace::LoopBlockRow::steal_ns, true},
    Counter{"interrupts", &trace::LoopBlockRow::interrupts},
};
constexpr double kMinTimeRatio = 0.02;  // of the block: a smaller time did nothing to it
constexpr double kMinPerSecond = 200;   // events; fewer did nothing either

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"spike", "level_shift", "counter", "execution", "session"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Anomaly> of_iterations(std::span<const trace::IterationRow> rows, const Thresholds& thresholds,
                                   std::string_view unit) {
  std::vector<Anomaly> out;
  if (static_cast<std::int64_t>(rows.size()) < kMinIterations) return out;
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(static_cast<double>(row.duration_ns));
  const Normal normal = normal_of(values);
  std::int64_t last = -kSameSpike - 1, first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (values[i] < normal.median || !stands_out(values[i], normal, thresholds)) continue;
    const auto at = static_cast<std::int64_t>(i);
    const bool joined = at - last <= kSameSpike && !out.empty();
    last = at;
    if (!joined) {
      first = rows[i].iteration;
      out.push_back({Kind::spike, "", values[i], normal.median, deviations_of(values[i], normal), rows[i].start_ns, 0, ""});
    }
    Anomaly& spike = out.back();
    if (values[i] > spike.value) spike.value = values[i], spike.deviations = deviations_of(values[i], normal);
    spike.end_ns = rows[i].start_ns + rows[i].duration_ns;
    spike.subject = first == rows[i].iteration ? fmt::format("{} {}", unit, first)
                                               : fmt::format("{}s {} to {}", unit, first, rows[i].iteration);
    spike.text = fmt::format("{}: up to {} instead of {}", spike.subject, core::format_duration(spike.value),
                             core::format_duration(spike.expected));
  }
  add_level_shifts(rows, values, normal, unit, out);
  tell_once(rows, out);
  return out;
}

std::vector<trace::IterationRow> after_filling(std::vector<trace::IterationRow> requests) {
  std::int64_t first_end = INT64_MAX;
  for (const auto& row : requests) first_end = std::min(first_end, row.start_ns + row.duration_ns);
  std::erase_if(requests, [&](const auto& row) { return row.start_ns < first_end; });
  return requests;
}

std::vector<Anomaly> of_blocks(std::span<const trace::LoopBlockRow> rows, const trace::NameTable& names,
                               const Thresholds& thresholds) {
  std::vector<const trace::LoopBlockRow*> blocks;
  for (const auto& row : rows)
    if (names.text(row.phase) == "measure" && row.end_ns > row.start_ns) blocks.push_back(&row);
  std::vector<Anomaly> out;
  if (blocks.size() < kMinCount) return out;
  for (const Counter& counter : kCounters) {
    std::vector<double> rates;  // of the block's time
    for (const auto* block : blocks)
      if (block->*counter.member)
        rates.push_back(static_cast<double>(*(block->*counter.member)) / static_cast<double>(block->end_ns - block->start_ns));
    if (rates.size() != blocks.size()) continue;
    const Normal normal = normal_of(rates);
    const double least = counter.time ? kMinTimeRatio : kMinPerSecond / 1e9;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (rates[i] - normal.median < least || !stands_out(rates[i], normal, thresholds)) continue;
      const std::string what = counter.time
                                   ? fmt::format("{} of the block's time instead of {}", core::format_percent(rates[i]),
                                                 core::format_percent(normal.median))
                                   : fmt::format("{:.3g} per second instead of {:.3g}", rates[i] * 1e9, normal.median * 1e9);
      out.push_back({Kind::counter, std::string(counter.name), rates[i], normal.median, deviations_of(rates[i], normal),
                     blocks[i]->start_ns, blocks[i]->end_ns,
                     fmt::format("block {}: {} {}", blocks[i]->block, counter.name, what)});
    }
  }
  return out;
}

namespace {

// Of fewer executions than have a typical one: the first, where it takes many times as long as each later one (loading code,
// memory touched first). Empty: it does not.
std::optional<Anomaly> first_of_few(const std::string& name, const std::vector<const Execution*>& list, double all_ns) {
  if (list.size() < 2) return std::nullopt;
  std::vector<double> later;
  for (std::size_t i = 1; i < list.size(); ++i) later.push_back(static_cast<double>(list[i]->duration_ns));
  const double first = static_cast<double>(list.front()->duration_ns), longest = *std::max_element(later.begin(), later.end());
  const double extra_ns = first - longest;
  if (longest <= 0 || first < kFirstFactor * longest || extra_ns < kMinFirstNs || extra_ns < kMinExtraRatio * all_ns)
    return std::nullopt;
  const Normal normal = normal_of(later);
  return Anomaly{Kind::execution,
                 name,
                 first,
                 normal.median,
                 deviations_of(first, normal),
                 list.front()->start_ns,
                 list.front()->start_ns + list.front()->duration_ns,
                 fmt::format("the first execution of {} took {}, the {} after it at most {}", name, core::format_duration(first),
                             later.size() == 1 ? "one" : std::to_string(later.size()), core::format_duration(longest))};
}

}  // namespace

std::vector<Anomaly> of_executions(std::span<const Execution> executions, const trace::NameTable& names, std::size_t most,
                                   const Thresholds& thresholds) {
  std::map<std::uint32_t, std::vector<const Execution*>> by_name;
  for (const Execution& one : executions) by_name[one.name.value].push_back(&one);
  double all_ns = 0;
  for (const Execution& one : executions) all_ns += static_cast<double>(one.duration_ns);
  std::vector<Anomaly> out;
  for (const auto& [id, list] : by_name) {
    if (static_cast<std::int64_t>(list.size()) < kMinIterations) {
      if (auto first = first_of_few(std::string(names.text(list.front()->name)), list, all_ns)) out.push_back(std::move(*first));
      continue;
    }
    std::vector<double> values;
    for (const Execution* one : list) values.push_back(static_cast<double>(one->duration_ns));
    const Normal normal = normal_of(values);
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (values[i] >= normal.median && stands_out(values[i], normal, thresholds)) slow.push_back(i);
    double extra_ns = 0;
    for (const std::size_t i : slow) extra_ns += values[i] - normal.median;
    if (extra_ns < kMinExtraRatio * all_ns || recurs(slow, list.size())) continue;
    for (const std::size_t i : slow) {
      const std::string name(names.text(list[i]->name));
      out.push_back({Kind::execution, name, values[i], normal.median, deviations_of(values[i], normal), list[i]->start_ns,
                     list[i]->start_ns + list[i]->duration_ns,
                     fmt::format("{} took {} instead of {}", name, core::format_duration(values[i]),
                                 core::format_duration(normal.median))});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.value - a.expected > b.value - b.expected; });
  if (out.size() > most) out.resize(most);
  return out;
}

std::optional<Anomaly> of_session(std::string_view metric, double value, std::span<const double> earlier,
                                  const Thresholds& thresholds) {
  if (earlier.size() < kMinCount || !std::isfinite(value)) return std::nullopt;
  const Normal normal = normal_of(earlier);
  if (!stands_out(value, normal, thresholds)) return std::nullopt;
  return Anomaly{Kind::session,
                 std::string(metric),
                 value,
                 normal.median,
                 deviations_of(value, normal),
                 0,
                 0,
                 fmt::format("{} is {}; the median was {} in the {} earlier comparable sessions", metric, quantity(metric, value),
                             quantity(metric, normal.median), earlier.size())};
}

void join_causes(std::vector<Anomaly>& spikes, std::span<const Anomaly> counters) {
  for (Anomaly& spike : spikes)
    for (const Anomaly& counter : counters)
      if (spike.kind == Kind::spike && counter.start_ns <= spike.end_ns && spike.start_ns <= counter.end_ns)
        spike.text += "; at the same time: " + counter.text;
}

core::Json to_json(const Anomaly& anomaly) {
  core::Json out = core::Json::object({{"kind", to_string(anomaly.kind)},
                                       {"subject", anomaly.subject},
                                       {"value", anomaly.value},
                                       {"expected", anomaly.expected},
                                       {"deviations", anomaly.deviations},
                                       {"count", anomaly.count},
                                       {"text", anomaly.text}});
  if (anomaly.end_ns != 0) out.set("start_ns", anomaly.start_ns).set("end_ns", anomaly.end_ns);
  return out;
}

}  // namespace aaco::analytics::anomaly
