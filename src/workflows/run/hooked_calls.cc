#include "workflows/run/hooked_calls.h"

#include <utility>

#include "core/private_library.h"
#include "workflows/run/hooked_idle.h"
#include "workflows/timeline_levels.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

using core::Json;

trace::Metrics metrics_of(const HookedSums& sums, const hooks::Allocations& memory, std::int64_t wall_ns) {
  trace::Metrics out;
  const auto add = [&](const char* id, double value, const char* unit) { out.push_back({id, value, unit, {}, {}}); };
  const auto count = [&](const char* id, std::int64_t value, const char* unit) { add(id, static_cast<double>(value), unit); };
  if (sums.calls == 0) return out;
  count("calls.launch_count", sums.launches, "count");
  if (wall_ns > 0)
    add("calls.launches_per_second", static_cast<double>(sums.launches) * 1e9 / static_cast<double>(wall_ns), "1/s");
  if (sums.launches > 0)
    add("calls.launch_mean_ns", static_cast<double>(sums.launch_ns) / static_cast<double>(sums.launches), "ns");
  count("calls.sync_sum_ns", sums.sync_ns, "ns");
  count("calls.copy_count", sums.copies, "count");
  count("calls.copy_sum_ns", sums.copy_ns, "ns");
  count("calls.copy_bytes", sums.copy_bytes, "bytes");
  count("calls.allocation_count", memory.count, "count");
  count("calls.allocated_peak_bytes", memory.peak_bytes, "bytes");
  count("calls.known_idle_ns", sums.idle_ns, "ns");
  return out;
}

}  // namespace

HookedCalls::HookedCalls(bool with_libraries, bool numbered, const Services& services) {
  hooks::RecordingOptions options;
  options.library = core::private_library(services.paths, "libaaco_hooks.so");
  options.with_libraries = with_libraries;
  options.number_calls = numbered;
  auto recording = hooks::Recording::begin(options, services.environment.get("LD_PRELOAD"));
  if (recording)
    recording_ = std::move(*recording);
  else
    refusal_ = std::move(recording.error());
}

hooks::Recording::Variables HookedCalls::environment() const {
  return recording_ ? recording_->environment() : hooks::Recording::Variables();
}

void HookedCalls::set_enabled(bool enabled) {
  if (recording_) recording_->set_enabled(enabled);
}

void HookedCalls::drain(trace::Sink& sink) {
  if (recording_) recording_->drain(sink);
}

void HookedCalls::finish(std::int64_t process_id, SessionDraft& draft) {
  if (refusal_) {
    draft.warn("hooks.unavailable", "GPU runtime calls were not recorded: " + refusal_->message, refusal_->remedy);
    draft.manifest().accounts.push_back({"hooks", trace::Account::State::unsupported, refusal_->message, 0, 0, {}, {}});
    return;
  }
  findings_ = recording_->finish(draft.sink(), process_id);
  recording_.reset();
  draft.manifest().accounts.push_back(findings_.account);
  for (trace::Warning& warning : findings_.warnings) draft.manifest().warnings.push_back(std::move(warning));
}

core::Result<trace::Metrics> HookedCalls::analyse(SessionDraft& draft, const Services& services, bool with_gaps) {
  if (refusal_ || findings_.threads == 0) return trace::Metrics();
  services.progress("analysing GPU runtime calls");
  AACO_ASSIGN(HookedSums sums, read_hooked_calls(draft.writer().path(), with_gaps, draft.sink(), services));
  trace::Outcome& outcome = draft.manifest().outcome;
  if (outcome.rest.is_null()) outcome.rest = Json::object();
  outcome.rest.set("gpu_calls", Json::object({{"processes", static_cast<long long>(findings_.processes)},
                                              {"threads", static_cast<long long>(findings_.threads)},
                                              {"calls", static_cast<long long>(sums.calls)},
                                              {"freed_allocations", static_cast<long long>(findings_.allocations.freed_count)},
                                              {"devices", sums.devices}}));
  if (with_gaps && sums.last_ns > sums.first_ns) {
    const auto plan = analytics::levels::plan_levels(findings_.account.kept, sums.last_ns - sums.first_ns);
    if (!plan.empty()) {
      AACO_TRY(store_levels(draft.writer().path(), plan, draft.sink(), [] { return core::Status(); }));
      if (outcome.rows.is_null()) outcome.rows = Json::object();
      outcome.rows.set("timeline", plan_json(plan));
    }
  }
  AACO_TRY(draft.writer().flush());
  return metrics_of(sums, findings_.allocations, outcome.wall_ns.value_or(0));
}

}  // namespace aaco::workflows
