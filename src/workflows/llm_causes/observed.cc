#include "workflows/llm_causes/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analytics/llm.h"
#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using core::ClockId;
using core::ErrorCode;
using core::TimePoint;

// Real time less monotonic time differs between boots by far more; within one it moves by what NTP corrects.
constexpr std::int64_t kSameBootNs = 1'000'000'000;

std::optional<std::int64_t> boot_offset(const trace::ClockGraph& clocks) {
  for (const trace::ClockPair& pair : clocks.pairs())
    if (pair.a.clock == ClockId::realtime && pair.b.clock == ClockId::monotonic) return pair.a.ns - pair.b.ns;
  return std::nullopt;
}

std::int64_t reading_error(const trace::ClockGraph& clocks) {
  std::int64_t most = 0;
  for (const trace::ClockPair& pair : clocks.pairs())
    if (pair.a.clock == ClockId::realtime) most = std::max(most, pair.uncertainty_ns);
  return most;
}

class Join {
 public:
  Join(const trace::ClockGraph& from, const trace::ClockGraph& to, bool same) : from_(from), to_(to), same_(same) {}
  [[nodiscard]] core::Result<std::int64_t> convert(std::int64_t ns) const {
    if (same_) return ns;
    AACO_ASSIGN(const TimePoint real, from_.convert({ClockId::monotonic, ns}, ClockId::realtime));
    AACO_ASSIGN(const TimePoint home, to_.convert(real, ClockId::monotonic));
    return home.ns;
  }

 private:
  const trace::ClockGraph &from_, &to_;
  bool same_;
};

// Rows within the load, on its clock.
template <class Row>
core::Status read_rows(const std::string& path, const Join& join, const LoadSpan& load, trace::NameTable& names,
                       std::vector<Row>& to) {
  return tracelake::scan_table<Row>(path, names, [&](std::span<const Row> rows) -> core::Status {
    for (Row row : rows) {
      AACO_ASSIGN(row.time_ns, join.convert(row.time_ns));
      if (row.time_ns < load.from_ns || row.time_ns > load.to_ns) continue;
      row.rank = analytics::llm::kObservedRank;
      to.push_back(row);
    }
    return {};
  });
}

core::Json environment_of(const std::string& path) {
  auto document = core::read_json_file(path);
  return document ? *std::move(document) : core::Json();
}

}  // namespace

core::Result<ObservedServer> read_observed(const std::string& session_path, const LoadSpan& load, trace::NameTable& names) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session_path));
  ObservedServer observed;
  observed.session_id = manifest.id.text;
  if (manifest.kind != "record")
    return core::fail(ErrorCode::invalid_input,
                      fmt::format("session {} is of kind {}, not a recording", observed.session_id, manifest.kind),
                      "record the server on its machine: aaco record --pid PID --duration 5m");
  const auto there = boot_offset(manifest.clocks), here = boot_offset(load.clocks);
  if (!there || !here)
    return core::fail(ErrorCode::invalid_input,
                      fmt::format("session {} has no reading of the real-time clock", observed.session_id));
  const auto environment = environment_of(core::join_path(session_path, "env.json")), own = environment_of(load.env_path);
  observed.host = std::string(environment["os"]["host"].text());
  observed.same_clock = std::abs(*there - *here) < kSameBootNs && environment["os"]["host"].text() == own["os"]["host"].text();
  observed.synchronised = observed.same_clock || (environment["time_sync"]["synchronised"].as_bool().value_or(false) &&
                                                  own["time_sync"]["synchronised"].as_bool().value_or(false));
  if (!observed.same_clock) {
    observed.clock_error_ns = reading_error(manifest.clocks) + reading_error(load.clocks);
    for (const core::Json* side : {&environment, &own})
      if (observed.synchronised) observed.clock_error_ns += (*side)["time_sync"]["max_error_ns"].as_i64().value_or(0);
  }
  const Join join(manifest.clocks, load.clocks, observed.same_clock);
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const trace::Phase& phase : manifest.phases) {
    AACO_ASSIGN(const std::int64_t phase_begin, join.convert(phase.start_ns));
    AACO_ASSIGN(const std::int64_t phase_end, join.convert(phase.end_ns));
    begin = std::min(begin, phase_begin);
    end = std::max(end, phase_end);
  }
  const std::int64_t both = std::min(end, load.to_ns) - std::max(begin, load.from_ns);
  if (begin >= end || both <= 0)
    return core::fail(ErrorCode::invalid_input,
                      fmt::format("session {} was not recorded during the load: it {}", observed.session_id,
                                  begin >= end ? "has no recorded time"
                                  : end < load.from_ns
                                      ? "ended " + core::format_duration(static_cast<double>(load.from_ns - end)) + " before it"
                                      : "began " + core::format_duration(static_cast<double>(begin - load.to_ns)) + " after it"),
                      "check that both machines' clocks are synchronised (NTP), and record for the whole load");
  observed.covered_ratio = static_cast<double>(both) / static_cast<double>(load.to_ns - load.from_ns);
  AACO_TRY(read_rows(session_path, join, load, names, observed.events));
  AACO_TRY(read_rows(session_path, join, load, names, observed.gpu));
  AACO_TRY(read_rows(session_path, join, load, names, observed.sched));
  return observed;
}

}  // namespace aaco::workflows
