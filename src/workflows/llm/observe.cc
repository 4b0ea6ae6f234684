#include "workflows/llm/observe.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/clock.h"
#include "core/files.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kLongestWaitNs = 60'000'000'000;
constexpr std::chrono::milliseconds kLookAgain{200};
constexpr std::string_view kTag = "tag:";

bool is_under_way(const std::string& name, const std::string& root) {
  const auto entries = tracelake::list_session_heads(root);
  if (!entries) return false;
  return std::any_of(entries->begin(), entries->end(), [&](const tracelake::SessionEntry& entry) {
    if (!entry.writer || !entry.writer->alive || entry.manifest.kind != "record") return false;
    return name.starts_with(kTag) ? entry.has_tag(std::string_view(name).substr(kTag.size()))
                                  : entry.manifest.id.text.starts_with(name) || entry.path == core::absolute_path(name);
  });
}

core::Result<ObservedServer> read(const std::string& name, const LoadSpan& load, trace::NameTable& names,
                                  const Services& services) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
  return read_observed(path, load, names);
}

}  // namespace

core::Status check_observed(const std::string& name, const Services& services) {
  const std::string remedy = "start it before the load: aaco record --pid PID --duration 5m --tag NAME, then --observe tag:NAME";
  auto path = tracelake::find_session(services.paths.sessions, name);
  if (!path) {
    core::Error error = std::move(path).error();
    error.remedy = remedy;
    return tl::unexpected<core::Error>(std::move(error).with("--observe"));
  }
  if (is_under_way(name, services.paths.sessions)) return {};
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(*path));
  if (manifest.kind != "record")
    return core::fail(core::ErrorCode::invalid_input,
                      "--observe: session " + manifest.id.text + " is of kind " + manifest.kind + ", not a recording", remedy);
  if (manifest.state != "incomplete")  // incomplete: a writer on another machine cannot be seen
    return core::fail(core::ErrorCode::invalid_input,
                      "--observe: recording " + manifest.id.text + " has ended, before the load began", remedy);
  return {};
}

core::Result<ObservedServer> join_observed(const std::string& name, const std::vector<RanLevel>& levels, SessionDraft& draft,
                                           const Services& services) {
  trace::ClockGraph clocks = draft.manifest().clocks;
  const core::SystemClock clock;
  clocks.add(trace::read_clock_pair(clock, core::ClockId::realtime));
  LoadSpan load{clocks, core::join_path(draft.writer().path(), "env.json"), INT64_MAX, INT64_MIN};
  for (const RanLevel& level : levels) {
    if (level.phase != "measure") continue;
    load.from_ns = std::min(load.from_ns, level.outcome.start_ns);
    load.to_ns = std::max(load.to_ns, level.outcome.end_ns);
  }
  services.progress("waiting for the recording " + name + " to end");
  const std::int64_t deadline = core::monotonic_ns() + kLongestWaitNs;
  trace::NameTable names;
  while (!services.stopping() && core::monotonic_ns() < deadline && is_under_way(name, services.paths.sessions))
    std::this_thread::sleep_for(kLookAgain);
  AACO_ASSIGN(ObservedServer observed, read(name, load, names, services));
  const auto put = [&](auto& rows, auto... columns) {
    for (auto& row : rows) {
      ((row.*columns = draft.sink().name(names.text(row.*columns))), ...);
      draft.sink().add(row);
    }
  };
  put(observed.events, &trace::SystemEventRow::metric, &trace::SystemEventRow::entity);
  put(observed.gpu, &trace::GpuEventRow::metric, &trace::GpuEventRow::source);
  put(observed.sched, &trace::SchedEventRow::kind, &trace::SchedEventRow::detail, &trace::SchedEventRow::call,
      &trace::SchedEventRow::thread_name);
  return observed;
}

}  // namespace aaco::workflows
