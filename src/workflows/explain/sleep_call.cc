#include "workflows/explain/sleep_call.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analytics/sleep_causes.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::SleepReason;
using analytics::scheduling::Span;

std::string_view cause_of(SleepReason reason) {
  switch (reason) {
    case SleepReason::io: return "io";
    case SleepReason::peer: return "peer";
    case SleepReason::timer:
    case SleepReason::event: return "timer";
    case SleepReason::handoff:
    case SleepReason::file_lock: return "lock";
    default: return {};
  }
}

}  // namespace

std::map<std::string, std::string> sleep_calls(std::span<const trace::IterationRow> iterations,
                                               std::span<const trace::SchedEventRow> events, const trace::NameTable& names) {
  constexpr double kMost = 0.5;
  std::map<std::string, std::map<std::string, double>> slept;
  std::vector<Span> watched;
  for (const trace::IterationRow& row : iterations)
    if (row.caller_off_cpu_ns) watched.push_back({row.start_ns, row.start_ns + row.duration_ns});
  for (const trace::SchedEventRow& row : events) {
    if (row.thread_id != row.process_id || names.text(row.kind) != "off_cpu") continue;  // its main thread calls the model
    const std::string_view call = names.text(row.call);
    const auto cause = cause_of(analytics::scheduling::sleep_reason(names.text(row.detail), call));
    const auto inside =
        std::partition_point(watched.begin(), watched.end(), [&](const Span& one) { return one.end_ns <= row.time_ns; });
    if (cause.empty() || inside == watched.end() || inside->start_ns > row.time_ns) continue;
    slept[std::string(cause)][std::string(call)] += static_cast<double>(row.duration_ns);
  }
  std::map<std::string, std::string> longest;
  for (const auto& [cause, calls] : slept) {
    double sum = 0;
    for (const auto& [call, ns] : calls) sum += ns;
    for (const auto& [call, ns] : calls)
      if (!call.empty() && ns >= kMost * sum) longest[cause] = call;
  }
  return longest;
}

core::Result<std::map<std::string, std::string>> sleep_calls(const std::string& session_path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto iterations, tracelake::read_table<trace::IterationRow>(session_path, names));
  AACO_ASSIGN(const auto events, tracelake::read_table<trace::SchedEventRow>(session_path, names));
  return sleep_calls(iterations, events, names);
}

}  // namespace aaco::workflows
