#include "workflows/run/hooked_idle.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analytics/gaps.h"
#include "analytics/known_idle.h"
#include "core/numbers.h"
#include "hooks/call_rows.h"
#include "trace/stored_names.h"
#include "workflows/gpu/gpu_books.h"
#include "workflows/gpu/idle_cause_names.h"
#include "workflows/run/hooked_arguments.h"
#include "workflows/session/row_puller.h"

namespace aaco::workflows {
namespace {

using analytics::known_idle::Act;
using core::Json;
using hooks::Role;

bool is_launch_role(Role role) { return role == Role::launch || role == Role::graph_launch; }
bool is_sync_role(Role role) { return role == Role::sync_device || role == Role::sync_stream || role == Role::sync_event; }
bool is_copy_role(Role role) {
  return role == Role::copy || role == Role::copy_async || role == Role::fill || role == Role::fill_async;
}

std::optional<Act> act_of(Role role, const HookedArguments& arguments) {
  switch (role) {
    case Role::launch:
    case Role::graph_launch:
    case Role::copy_async:
    case Role::fill:
    case Role::fill_async:
    case Role::compute:
    case Role::collective: return Act::submit;
    // To the device it may return when the data is staged, before it is there.
    case Role::copy: return arguments.to_host ? Act::submit_and_wait : Act::submit;
    case Role::sync_device: return Act::wait_device;
    case Role::sync_stream: return Act::wait_stream;
    case Role::sync_event: return Act::wait_event;
    case Role::query: return arguments.event != 0 ? Act::wait_event : Act::wait_stream;
    case Role::event_record: return Act::record_event;
    default: return std::nullopt;
  }
}

class HookedReader {
 public:
  HookedReader(const std::string& path, bool with_gaps, trace::Sink& sink, const GpuBooks& books)
      : path_(path),
        with_gaps_(with_gaps),
        sink_(sink),
        stored_(names_, sink),
        books_(books),
        gaps_(names_, &books.causes, &books.confidences) {}

  core::Result<HookedSums> run(const Services& services) {
    AACO_ASSIGN(auto calls, RowPuller<trace::ApiCallRow>::open(path_, names_));
    AACO_ASSIGN(auto ahead, RowPuller<trace::ApiCallRow>::open(path_, names_, {{"arguments", "NULL"}}));
    AACO_ASSIGN(auto schedule, RowPuller<trace::SchedEventRow>::open(path_, names_));
    ahead_ = &ahead, schedule_ = &schedule;
    for (std::int64_t rows = 1; const auto* row = calls.peek(); ++rows) {
      AACO_TRY(add(*row));
      AACO_TRY(calls.pop());
      if (rows % kRowsBetweenStops == 0 && services.stopping()) break;
    }
    for (auto& [key, device] : devices_) sums_.devices.push(device_json(key, device));
    AACO_TRY(sink_.status());
    return std::move(sums_);
  }

 private:
  static constexpr std::int64_t kRowsBetweenStops = 1 << 16;
  using Key = std::pair<std::int32_t, std::int64_t>;  // rank, device
  struct Device {
    std::int64_t idle_ns = 0, gaps = 0;
    analytics::gaps::GapSums sums;
  };

  core::Status add(const trace::ApiCallRow& row) {
    const hooks::Function* const function = texts_.function(row.name);
    if (function == nullptr) return {};
    ranks_.emplace(row.process_id, row.rank);
    const HookedArguments& arguments = texts_.arguments(row.arguments);
    count(row, function->role, arguments);
    const auto act = act_of(function->role, arguments);
    if (!act || arguments.failed) return {};
    analytics::known_idle::Call call;
    call.act = *act;
    call.rank = row.rank;
    call.device = arguments.device;
    call.stream = stream_of(arguments, row.thread_id);
    // Streams of the launches that do not name theirs here.
    if (function->stream == -1 && function->role != Role::copy && function->role != Role::fill)
      call.stream = analytics::known_idle::kUnknownStream;
    call.event = arguments.event;
    call.thread_id = row.thread_id;
    call.start_ns = row.start_ns, call.end_ns = row.end_ns;
    call.name = row.name;
    call.work = arguments.kernel.value_or(row.name);
    const auto idle = finder_.add(call);
    if (!idle || idle->end_ns - idle->start_ns < analytics::gaps::kDefaultThresholdNs) return {};
    Device& device = devices_[{idle->rank, idle->device}];
    device.idle_ns += idle->end_ns - idle->start_ns, ++device.gaps;
    sums_.idle_ns += idle->end_ns - idle->start_ns, ++sums_.gaps;
    return with_gaps_ ? explain(*idle, device, is_copy_role(function->role), function->role == Role::graph_launch)
                      : core::Status();
  }

  // Of the program's own calls: a call inside another of its thread is a runtime's.
  void count(const trace::ApiCallRow& row, Role role, const HookedArguments& arguments) {
    sums_.first_ns = std::min(sums_.first_ns, row.start_ns), sums_.last_ns = std::max(sums_.last_ns, row.end_ns);
    std::int64_t& open_until = open_until_[row.thread_id];
    if (row.start_ns < open_until) return;
    open_until = row.end_ns;
    const std::int64_t duration = row.end_ns - row.start_ns;
    ++sums_.calls;
    if (is_launch_role(role)) ++sums_.launches, sums_.launch_ns += duration;
    if (is_sync_role(role)) ++sums_.syncs, sums_.sync_ns += duration;
    if (is_copy_role(role)) ++sums_.copies, sums_.copy_ns += duration, sums_.copy_bytes += arguments.bytes;
  }

  core::Status explain(const analytics::known_idle::Idle& idle, Device& device, bool is_copy, bool is_graph) {
    analytics::gaps::Gap gap{idle.rank, idle.device, idle.start_ns, idle.end_ns, idle.previous, idle.next.work, {}, {}};
    gap.launch = {idle.next.start_ns, idle.next.end_ns, idle.next.thread_id, idle.next.name, is_copy, is_graph, false};
    gaps_.still_idle({{idle.rank, idle.start_ns}});
    for (const auto* call = ahead_->peek(); call != nullptr && call->start_ns < gap.end_ns; call = ahead_->peek()) {
      gaps_.add_call(*call);
      AACO_TRY(ahead_->pop());
    }
    for (const auto* event = schedule_->peek(); event != nullptr && event->time_ns < gap.end_ns; event = schedule_->peek()) {
      trace::SchedEventRow own = *event;
      if (const auto rank = ranks_.find(own.process_id); rank != ranks_.end()) own.rank = rank->second;
      gaps_.add_schedule(own);
      AACO_TRY(schedule_->pop());
    }
    auto explained = gaps_.explain(gap);
    device.sums.add(explained, books_.causes);
    trace::GapRow& row = explained.row;
    for (trace::NameId* name : {&row.cause, &row.previous, &row.next, &row.evidence, &row.host_cause}) *name = stored_(*name);
    sink_.add(row);
    return {};
  }

  Json device_json(const Key& key, const Device& device) const {
    Json causes = Json::array();
    for (const IdleCause& one : idle_causes_of(device.sums, books_.causes, names_))
      causes.push(Json::object({{"cause", one.cause.id},
                                {"class", one.cause.class_id},
                                {"title", one.cause.title},
                                {"remedy", one.cause.remedy},
                                {"gap_count", one.sum.gap_count},
                                {"idle_ns", one.sum.idle_ns}}));
    return Json::object({{"rank", key.first},
                         {"device", static_cast<long long>(key.second)},
                         {"known_idle_ns", static_cast<long long>(device.idle_ns)},
                         {"gap_count", static_cast<long long>(device.gaps)},
                         {"idle_causes", std::move(causes)}});
  }

  const std::string& path_;
  bool with_gaps_;
  trace::Sink& sink_;
  trace::NameTable names_;
  trace::StoredNames stored_;
  const GpuBooks& books_;
  analytics::gaps::GapExplainer gaps_;
  analytics::known_idle::Finder finder_;
  RowPuller<trace::ApiCallRow>* ahead_ = nullptr;  // these two while it runs
  RowPuller<trace::SchedEventRow>* schedule_ = nullptr;
  std::map<Key, Device> devices_;
  HookedTexts texts_{names_};
  std::unordered_map<std::int64_t, std::int64_t> open_until_;  // by thread
  std::map<std::int64_t, std::int32_t> ranks_;                 // by process
  HookedSums sums_;
};

}  // namespace

core::Result<HookedSums> read_hooked_calls(const std::string& session_path, bool with_gaps, trace::Sink& sink,
                                           const Services& services) {
  AACO_ASSIGN(const GpuBooks books, GpuBooks::load(services.paths));
  return HookedReader(session_path, with_gaps, sink, books).run(services);
}

}  // namespace aaco::workflows
