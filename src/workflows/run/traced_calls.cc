#include "workflows/run/traced_calls.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "trace/api_domains.h"
#include "trace/kernel_name.h"
#include "workflows/session/row_puller.h"

namespace aaco::workflows {
namespace {

namespace call_join = analytics::call_join;
using call_join::Reason;
using hooks::Role;

constexpr std::int64_t kClockErrorNs = 300;       // of the hooks' own times
constexpr std::int64_t kSlackNs = 1'000'000'000;  // that a trace may reach beyond the recorded calls

// A clock that the trace's times may be of, and what leads from it to the session's.
struct Candidate {
  std::string name;
  std::int64_t shift_ns = 0;
};

std::vector<Candidate> candidates(const TracedCalls& traced, const trace::ClockGraph& clocks,
                                  std::optional<std::int64_t> base_ns) {
  std::vector<Candidate> out = {{"monotonic", 0}};
  const auto add = [&](std::string name, core::ClockId clock, std::int64_t relative_to_ns) {
    std::int64_t at = 0;
    if (__builtin_add_overflow(traced.first_ns, relative_to_ns, &at)) return;
    if (const auto there = clocks.convert({clock, at}, core::ClockId::monotonic))
      out.push_back({std::move(name), there->ns - traced.first_ns});
  };
  add("boottime", core::ClockId::boottime, 0);
  add("realtime", core::ClockId::realtime, 0);
  if (base_ns) add("realtime, relative", core::ClockId::realtime, *base_ns);
  return out;
}

call_join::Call call_of(const trace::ApiCallRow& row) {
  return {row.process_id, row.thread_id, row.name.value, row.start_ns, row.end_ns, row.correlation_id};
}

// Of the hooked calls: their times, processes, and launches in order where the trace has no calls.
struct Hooked {
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  std::uint64_t last_id = 0;
  std::map<std::int64_t, std::int32_t> ranks;                       // by process
  std::map<std::int32_t, std::vector<call_join::Launch>> launches;  // by rank
  std::size_t launch_count = 0;
  bool full = false;
};

core::Status each_hooked(const std::string& path, trace::NameTable& names, const Services& services,
                         const std::function<void(const trace::ApiCallRow&)>& take) {
  constexpr std::int64_t kRowsBetweenStops = 1 << 16;
  AACO_ASSIGN(auto rows, RowPuller<trace::ApiCallRow>::open(path, names));
  for (std::int64_t count = 1; const auto* row = rows.peek(); ++count) {
    if (row->correlation_id != 0) take(*row);
    AACO_TRY(rows.pop());
    if (count % kRowsBetweenStops == 0 && services.stopping())
      return core::fail(core::ErrorCode::cancelled, "interrupted", "record again");
  }
  return {};
}

class LaunchReader {
 public:
  LaunchReader(trace::NameTable& names, Hooked& out) : names_(names), texts_(names), out_(out) {}

  void add(const trace::ApiCallRow& row) {
    const hooks::Function* const function = texts_.function(row.name);
    if (function == nullptr || static_cast<unsigned>(function->group) >= 3) return;
    const bool captures = std::string_view(function->name).find("BeginCapture") != std::string_view::npos;
    if (function->role != Role::launch && function->role != Role::graph_launch && !captures) return;
    // What a runtime calls inside of a launch is the same launch.
    std::int64_t& open_until = open_until_[{row.process_id, row.thread_id}];
    if (row.start_ns < open_until) return;
    open_until = row.end_ns;
    const HookedArguments& arguments = texts_.arguments(row.arguments);
    if (arguments.failed) return;
    if (++out_.launch_count > TracedCalls::kMaxCalls) {
      out_.full = true;
      return;
    }
    call_join::Launch launch;
    launch.stream = streams_.try_emplace({arguments.device, stream_of(arguments, row.thread_id)}, streams_.size()).first->second;
    if (arguments.kernel) launch.kernel = short_name(*arguments.kernel);
    launch.thread_id = row.thread_id;
    launch.start_ns = row.start_ns, launch.end_ns = row.end_ns;
    launch.id = row.correlation_id;
    launch.is_graph = function->role != Role::launch;
    out_.launches[row.rank].push_back(launch);
  }

 private:
  std::uint32_t short_name(trace::NameId kernel) {
    const auto [known, fresh] = short_.try_emplace(kernel.value, 0);
    if (fresh) known->second = names_.intern(trace::short_kernel_name(names_.text(kernel))).value;
    return known->second;
  }

  trace::NameTable& names_;
  HookedTexts texts_;
  Hooked& out_;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> streams_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> open_until_;
  std::unordered_map<std::uint32_t, std::uint32_t> short_;
};

core::Result<Hooked> read_hooked(const std::string& path, const TracedCalls& traced, std::vector<call_join::ShiftFinder>& finders,
                                 trace::NameTable& names, const Services& services) {
  Hooked out;
  LaunchReader launches(names, out);
  AACO_TRY(each_hooked(path, names, services, [&](const trace::ApiCallRow& row) {
    out.first_ns = std::min(out.first_ns, row.start_ns), out.last_ns = std::max(out.last_ns, row.end_ns);
    out.last_id = std::max(out.last_id, row.correlation_id);
    out.ranks.emplace(row.process_id, row.rank);
    for (auto& finder : finders) finder.add(call_of(row));
    if (traced.calls.empty()) launches.add(row);
  }));
  return out;
}

// By the calls where the trace has some, else by the times of its kernels alone.
void choose_clock(const std::vector<Candidate>& clocks, std::vector<call_join::ShiftFinder>& finders, const TracedCalls& traced,
                  const Hooked& hooked, TraceJoin& join) {
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (traced.calls.empty()) {
      const std::int64_t shift = clocks[i].shift_ns;
      if (join.has_clock || traced.first_ns + shift < hooked.first_ns - kClockErrorNs ||
          traced.last_ns + shift > hooked.last_ns + kSlackNs)
        continue;
      join.shift_ns = shift, join.clock = clocks[i].name, join.has_clock = true;
      continue;
    }
    const auto answer = finders[i].finish();
    join.several = join.several || answer.several;
    if (!answer.shift_ns || (join.has_clock && answer.inside <= join.inside)) continue;
    join.shift_ns = *answer.shift_ns, join.clock = clocks[i].name, join.has_clock = true;
    join.samples = answer.samples, join.inside = answer.inside;
  }
  // Where nothing fits exactly, the times are at least those of the recording.
  for (const Candidate& one : clocks)
    if (!join.has_clock && join.clock.empty() && traced.last_ns + one.shift_ns >= hooked.first_ns - kSlackNs &&
        traced.first_ns + one.shift_ns <= hooked.last_ns + kSlackNs)
      join.shift_ns = one.shift_ns, join.clock = one.name;
}

void join_ranks(const TracedCalls& traced, const Hooked& hooked, TraceJoin& join) {
  for (const auto& [process, rank] : hooked.ranks) join.first_free_rank = std::max(join.first_free_rank, rank + 1);
  std::set<std::int32_t> of_kernels;
  for (const auto& kernel : traced.kernels) of_kernels.insert(kernel.rank);
  for (const auto& [rank, processes] : traced.processes_of) {
    for (const std::int64_t process : processes)
      if (const auto found = hooked.ranks.find(process); found != hooked.ranks.end()) join.ranks.emplace(rank, found->second);
  }
  // Without calls only a recording of one launching process says whose the kernels are.
  if (traced.processes_of.empty() && of_kernels.size() == 1 && hooked.launches.size() == 1)
    join.ranks.emplace(*of_kernels.begin(), hooked.launches.begin()->first);
}

void join_order(const TracedCalls& traced, Hooked& hooked, TraceJoin& join) {
  std::map<std::int32_t, std::vector<call_join::Kernel>> kernels;
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::uint64_t> streams;
  for (std::size_t i = 0; i < traced.kernels.size(); ++i) {
    const auto& kernel = traced.kernels[i];
    const std::uint64_t stream = streams.try_emplace({kernel.rank, kernel.device, kernel.stream}, streams.size()).first->second;
    kernels[kernel.rank].push_back({stream, kernel.name, kernel.start_ns + join.shift_ns, i});
  }
  for (auto& [rank, own] : kernels) {
    const auto to = join.ranks.find(rank);
    const bool possible = join.has_clock && to != join.ranks.end() && !hooked.full && !traced.full;
    if (!possible) {
      for (const auto& kernel : own)
        join.disordered.emplace(kernel.id, !join.has_clock              ? Reason::clock
                                           : hooked.full || traced.full ? Reason::limit
                                                                        : Reason::other_thread);
      continue;
    }
    auto answer =
        call_join::join_by_order(std::move(hooked.launches[to->second]), std::move(own), kClockErrorNs + traced.rounding_ns);
    join.ordered.merge(answer.launch);
    join.disordered.merge(answer.apart);
  }
}

// What a call of a runtime and the call of the driver inside of it both do; 0: nothing that reaches a device.
std::uint32_t deed_of(Role role) {
  switch (role) {
    case Role::launch: return 1;
    case Role::graph_launch: return 2;
    case Role::copy:
    case Role::copy_async: return 3;
    case Role::fill:
    case Role::fill_async: return 4;
    default: return 0;
  }
}

// Joins the trace's calls that the hooks do not have to the driver's calls inside of them.
core::Status join_inner(const std::string& path, const TracedCalls& traced, trace::NameTable& names, const Services& services,
                        TraceJoin& join) {
  HookedTexts texts(names);
  std::vector<call_join::Call> outer, driver;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  for (const auto& call : traced.calls) {
    const hooks::Function* const function = texts.function(trace::NameId{call.function});
    if (!join.apart.contains(call.id) || function == nullptr || function->group != hooks::Group::cuda_runtime) continue;
    outer.push_back(call);
    auto& own = outer.back();
    own.function = deed_of(function->role);
    own.start_ns += join.shift_ns, own.end_ns += join.shift_ns;
    threads.emplace(call.process_id, call.thread_id);
  }
  if (outer.empty()) return {};
  const std::int64_t tolerance_ns = kClockErrorNs + traced.rounding_ns;
  const std::int64_t first_ns = outer.front().start_ns - tolerance_ns;
  AACO_TRY(each_hooked(path, names, services, [&](const trace::ApiCallRow& row) {
    if (row.start_ns < first_ns || driver.size() >= TracedCalls::kMaxCalls || !threads.contains({row.process_id, row.thread_id}))
      return;
    const hooks::Function* const function = texts.function(row.name);
    if (function == nullptr || function->group != hooks::Group::cuda_driver || deed_of(function->role) == 0) return;
    driver.push_back(call_of(row));
    driver.back().function = deed_of(function->role);
  }));
  call_join::Matcher matcher(std::move(driver), tolerance_ns);
  for (const auto& call : outer) matcher.add(call);
  for (const auto& [hooked, index] : matcher.finish().hooked) {
    join.inner.emplace(index, hooked);
    join.apart.erase(index);
  }
  return {};
}

}  // namespace

void TracedCalls::add(const trace::ApiCallRow& row) {
  if (row.correlation_id == 0 || !trace::is_gpu_runtime(names_.text(row.domain))) return;
  first_ns = std::min(first_ns, row.start_ns), last_ns = std::max(last_ns, row.end_ns);
  const std::uint64_t index = count_++;
  processes_of[row.rank].insert(row.process_id);
  if (launches.size() >= kMaxCalls) {
    full = true;
    return;
  }
  launches.push_back({row.rank, row.correlation_id, row.start_ns, index});
  const std::uint32_t function = function_of(row.name);
  if (function == 0) return;
  if (row.start_ns % 1000 != 0 || row.end_ns % 1000 != 0) rounding_ns = 1;
  calls.push_back({row.process_id, row.thread_id, function, row.start_ns, std::max(row.start_ns, row.end_ns), index});
}

// "cudaLaunchKernel_v7000": Nsight Systems names the version of CUDA that the function is of.
std::uint32_t TracedCalls::function_of(trace::NameId name) {
  const auto [known, fresh] = functions_.try_emplace(name.value, 0);
  if (!fresh) return known->second;
  if (texts_.function(name) != nullptr) return known->second = name.value;
  const std::string text(names_.text(name));
  const std::size_t at = text.rfind("_v");
  if (at == std::string::npos || text.size() - at < 6 || text.find_first_not_of("0123456789", at + 2) != std::string::npos)
    return 0;
  const trace::NameId bare = names_.intern(text.substr(0, at));
  return known->second = texts_.function(bare) != nullptr ? bare.value : 0;
}

void TracedCalls::add(const trace::KernelRow& row) {
  first_ns = std::min(first_ns, row.start_ns), last_ns = std::max(last_ns, row.end_ns);
  if (kernels.size() >= kMaxKernels) {
    full = true;
    return;
  }
  const auto [known, fresh] = short_names_.try_emplace(row.name.value, 0);
  if (fresh) known->second = names_.intern(trace::short_kernel_name(names_.text(row.name))).value;
  kernels.push_back({row.rank, row.device, row.stream, known->second, row.correlation_id, row.start_ns});
}

void TracedCalls::seal() {
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return std::tie(a.rank, a.correlation_id, a.start_ns, a.index) < std::tie(b.rank, b.correlation_id, b.start_ns, b.index);
  });
  std::sort(calls.begin(), calls.end(),
            [](const auto& a, const auto& b) { return std::tie(a.start_ns, a.id) < std::tie(b.start_ns, b.id); });
}

std::pair<const TracedCalls::Launch*, const TracedCalls::Launch*> TracedCalls::find(std::int32_t rank,
                                                                                    std::uint64_t correlation_id) const {
  const auto place = [](const Launch& one) { return std::tie(one.rank, one.correlation_id); };
  const auto key = std::tie(rank, correlation_id);
  const auto low =
      std::lower_bound(launches.begin(), launches.end(), key, [&](const Launch& a, const auto& b) { return place(a) < b; });
  auto high = low;
  while (high != launches.end() && place(*high) == key) ++high;
  return {launches.data() + (low - launches.begin()), launches.data() + (high - launches.begin())};
}

core::Result<TraceJoin> join_traced_calls(const std::string& session_path, const TracedCalls& traced, trace::NameTable& names,
                                          const trace::ClockGraph& clocks, std::optional<std::int64_t> base_ns,
                                          const Services& services) {
  TraceJoin join;
  if (traced.first_ns > traced.last_ns) return join;
  const std::vector<Candidate> possible = candidates(traced, clocks, base_ns);
  std::vector<call_join::ShiftFinder> finders;
  if (!traced.calls.empty())
    for (const Candidate& one : possible) finders.emplace_back(traced.calls, one.shift_ns, traced.rounding_ns);
  AACO_ASSIGN(Hooked hooked, read_hooked(session_path, traced, finders, names, services));
  join.first_free = hooked.last_id + 1;
  choose_clock(possible, finders, traced, hooked, join);
  join_ranks(traced, hooked, join);
  if (traced.launches.empty()) {
    join_order(traced, hooked, join);
  } else if (!join.has_clock) {
    for (const auto& call : traced.calls) join.apart.emplace(call.id, Reason::clock);
  } else {
    std::vector<call_join::Call> shifted = traced.calls;
    for (auto& call : shifted) call.start_ns += join.shift_ns, call.end_ns += join.shift_ns;
    call_join::Matcher matcher(std::move(shifted), kClockErrorNs + traced.rounding_ns);
    AACO_TRY(each_hooked(session_path, names, services, [&](const trace::ApiCallRow& row) { matcher.add(call_of(row)); }));
    auto answer = matcher.finish();
    join.hooked = std::move(answer.hooked);
    join.apart = std::move(answer.apart);
    AACO_TRY(join_inner(session_path, traced, names, services, join));
  }
  return join;
}

}  // namespace aaco::workflows
