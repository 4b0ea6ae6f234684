#include "analytics/recording_holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analytics/trace_time.h"
#include "core/numbers.h"
#include "trace/silence.h"

namespace aaco::analytics::trace_time {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

std::optional<std::int64_t> step_number(std::string_view name) {
  return name.starts_with(kStep) ? core::parse_i64(name.substr(kStep.size())) : std::nullopt;
}

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace

RecordingHoles::Kind RecordingHoles::kind_of(const trace::ApiCallRow& row, const trace::NameTable& names) {
  if (row.name.value >= kinds_.size()) kinds_.resize(std::max<std::size_t>(names.size(), row.name.value + std::size_t{1}));
  Kind& kind = kinds_[row.name.value];
  if (kind != Kind::unseen) return kind;
  const std::string_view name = names.text(row.name);
  if (name == trace::kNoPythonFrame)
    kind = Kind::silence;
  else if (step_number(name))
    kind = Kind::step;
  else if (names.text(row.domain) == "python")
    kind = Kind::python;
  else
    kind = has(name, "ProfilerStart") || has(name, "ProfilerStop") ? Kind::profiler : Kind::other;
  return kind;
}

void RecordingHoles::add(const trace::ApiCallRow& row, const trace::NameTable& names) {
  const Kind kind = kind_of(row, names);
  if (kind == Kind::silence || row.end_ns < row.start_ns || !is_time(row.start_ns) || !is_time(row.end_ns)) return;
  Rank& rank = ranks_[row.rank];
  const bool known = rank.host_until_ns != INT64_MIN;
  if (known && row.start_ns - rank.host_until_ns >= kMinHoleNs && rank.host.size() < kMaxSilences) {
    Silence silence{rank.host_until_ns, row.start_ns, rank.last_step, {}, rank.python};
    silence.profiler = rank.last_is_profiler || kind == Kind::profiler;
    rank.host.push_back(silence);
  }
  if (kind == Kind::step) {
    rank.last_step = step_number(names.text(row.name));
    if (!rank.host.empty() && !rank.host.back().step_after) rank.host.back().step_after = rank.last_step;
  }
  if (kind == Kind::python) {
    rank.python = true;
    if (!rank.host.empty()) rank.host.back().python_after = true;
  }
  if (row.end_ns >= rank.host_until_ns) rank.last_is_profiler = kind == Kind::profiler;
  rank.host_until_ns = std::max(rank.host_until_ns, row.end_ns);
}

void RecordingHoles::add_work(std::int32_t rank_number, std::int64_t start_ns, std::int64_t end_ns) {
  if (end_ns < start_ns || !is_time(start_ns) || !is_time(end_ns)) return;
  Rank& rank = ranks_[rank_number];
  if (rank.work_until_ns != INT64_MIN && start_ns - rank.work_until_ns >= kMinHoleNs && rank.work.size() < kMaxSilences)
    rank.work.push_back({rank.work_until_ns, start_ns, {}, {}});
  rank.work_until_ns = std::max(rank.work_until_ns, end_ns);
}

bool RecordingHoles::Silence::is_proven() const {
  const bool jumps = step_before && step_after && *step_after > *step_before + 1;
  return jumps || (python_before && python_after) || profiler;
}

std::vector<RecordingHole> RecordingHoles::finish() const {
  std::vector<RecordingHole> holes;
  for (const auto& [number, rank] : ranks_) {
    auto work = rank.work.begin();
    for (const Silence& host : rank.host) {
      if (!host.is_proven()) continue;
      while (work != rank.work.end() && work->end_ns <= host.start_ns) ++work;
      if (work == rank.work.end()) break;
      const std::int64_t start = std::max(host.start_ns, work->start_ns), end = std::min(host.end_ns, work->end_ns);
      if (end - start < kMinHoleNs) continue;
      RecordingHole hole{number, start, end, {}, {}};
      if (host.step_before && host.step_after && *host.step_after > *host.step_before + 1)
        hole.step_before = host.step_before, hole.step_after = host.step_after;
      holes.push_back(hole);
    }
  }
  return holes;
}

std::string text_of(const std::vector<RecordingHole>& holes) {
  std::int64_t sum = 0;
  const RecordingHole* jump = nullptr;
  for (const RecordingHole& hole : holes) {
    sum += hole.end_ns - hole.start_ns;
    if (hole.step_before && jump == nullptr) jump = &hole;
  }
  std::string text = fmt::format("{} windows of recording: between them nothing was recorded for {}", holes.size() + 1,
                                 core::format_duration(static_cast<double>(sum)));
  if (jump == nullptr) return text;
  const std::int64_t first = *jump->step_before + 1, last = *jump->step_after - 1;
  return text + (first == last ? fmt::format(", and step {} is missing", first)
                               : fmt::format(", and steps {} to {} are missing", first, last));
}

}  // namespace aaco::analytics::trace_time
