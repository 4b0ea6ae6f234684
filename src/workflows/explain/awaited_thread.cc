#include "workflows/explain/awaited_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/sleep_causes.h"
#include "core/numbers.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::scheduling::SleepCauses;
using CallTimes = std::map<std::string, std::int64_t>;

// The call in which a thread slept longest; empty: in none that is known.
std::string longest_call(const CallTimes& calls) {
  const auto found =
      std::max_element(calls.begin(), calls.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  return found == calls.end() ? std::string() : found->first;
}

std::string in_call(const CallTimes& calls) {
  const std::string call = longest_call(calls);
  return call.empty() ? call : " (" + call + ")";
}

}  // namespace

std::optional<std::string> awaited_thread(std::span<const trace::IterationRow> iterations,
                                          std::span<const trace::SchedEventRow> events, const trace::NameTable& names) {
  std::vector<analytics::scheduling::Span> watched;
  for (const trace::IterationRow& row : iterations)
    if (row.caller_off_cpu_ns) watched.push_back({row.start_ns, row.start_ns + row.duration_ns});
  if (watched.empty() || events.empty()) return std::nullopt;
  const auto count = static_cast<double>(watched.size());
  const std::int64_t process = events.front().process_id;  // its main thread calls the model
  SleepCauses causes(std::move(watched), process, process);
  std::map<std::int64_t, CallTimes> calls;
  std::map<std::int64_t, std::string> thread_names;
  for (const trace::SchedEventRow& row : events) {
    const std::string_view kind = names.text(row.kind), call = names.text(row.call);
    causes.add(row, kind, analytics::scheduling::sleep_reason(names.text(row.detail), call));
    if (kind == "off_cpu") calls[row.thread_id][std::string(call)] += row.duration_ns;
    if (const auto name = names.text(row.thread_name); !name.empty()) thread_names[row.thread_id] = name;
  }
  const auto awaited = causes.awaited_ns();
  const auto longest =
      std::max_element(awaited.begin(), awaited.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  if (longest == awaited.end()) return std::nullopt;
  const std::string& name = thread_names[longest->first];
  return fmt::format("thread {}{} slept {} per iteration{} while the caller waited for it{}", longest->first,
                     name.empty() ? "" : " '" + name + "'", core::format_duration(longest->second / count),
                     in_call(calls[longest->first]), in_call(calls[process]));
}

core::Result<std::optional<std::string>> awaited_thread(const std::string& session_path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto iterations, tracelake::read_table<trace::IterationRow>(session_path, names));
  AACO_ASSIGN(const auto events, tracelake::read_table<trace::SchedEventRow>(session_path, names));
  return awaited_thread(iterations, events, names);
}

}  // namespace aaco::workflows
