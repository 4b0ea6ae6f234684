#include "workflows/import/host_calls.h"

#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/api_domains.h"
#include "tracelake/lake.h"
#include "workflows/timeline_levels.h"

namespace aaco::workflows {
namespace {

bool is_launch(std::string_view domain, std::string_view name) {
  return trace::is_gpu_runtime(domain) && name.find("Launch") != std::string_view::npos &&
         name.find("HostFunc") == std::string_view::npos;
}

}  // namespace

core::Result<HostCalls> read_host_calls(SessionDraft& draft, const analytics::levels::Plan& levels,
                                        const std::function<core::Status()>& go_on) {
  HostCalls out;
  const trace::NameTable& names = out.names;
  const trace::NameId operators = out.names.intern("cpu_op");
  analytics::steps::StepFinder finder(out.names);
  TimelineLevels timeline(levels, draft.writer().path(), out.names, draft.sink());
  std::unordered_map<std::uint64_t, bool> launches;  // by domain and name
  const auto visit = [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
    for (const auto& row : rows) {
      finder.add_call(row);
      timeline.add(row);
      out.has_operators = out.has_operators || row.domain == operators;
      const auto [known, fresh] = launches.try_emplace((std::uint64_t{row.domain.value} << 32U) | row.name.value);
      if (fresh) known->second = is_launch(names.text(row.domain), names.text(row.name));
      out.launch_count += known->second ? 1 : 0;
    }
    return go_on();
  };
  AACO_TRY(tracelake::scan_where<trace::ApiCallRow>(draft.writer().path(), out.names, {}, {{"arguments", "NULL"}}, visit));
  AACO_TRY(timeline.finish());
  out.steps = finder.finish();
  return out;
}

core::Status store_host_steps(const HostCalls& calls, SessionDraft& draft) {
  if (!calls.has_operators) return {};
  if (calls.steps.iterations.empty())
    draft.warn("import.no_steps", "the trace is not divided into steps: " + calls.steps.explanation,
               "use torch.profiler.schedule and call prof.step() after each step, or mark steps with record_function");
  for (trace::IterationRow row : calls.steps.iterations) {
    row.phase = draft.sink().name(calls.names.text(row.phase));
    draft.sink().add(row);
  }
  return draft.sink().status();
}

}  // namespace aaco::workflows
