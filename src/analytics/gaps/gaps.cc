#include "analytics/gaps.h"

#include <algorithm>
#include <array>

#include "analytics/trace_time.h"
#include "trace/api_domains.h"

namespace aaco::analytics::gaps {
namespace {

constexpr std::array<std::string_view, kCauses> kNames = {"host_late",  "launch_latency", "synchronisation", "copy",
                                                          "dependency", "queue_empty",    "unknown"};

// After a synchronising call the host needs some time to fill the queue again; up to this much is put down to the call.
constexpr std::int64_t kRefillNs = 100'000;
// A host event explains a gap when it covers at least this share of the time in which the host kept the device waiting.
constexpr double kHostShare = 0.2;
constexpr double kUnjudged = 0.5;  // confidence in what was never judged

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::string_view to_string(Cause cause) { return kNames[static_cast<std::size_t>(cause)]; }

void GapExplainer::Evidence::offer(std::int64_t overlap, const Call& call) {
  if (overlap <= overlap_ns) return;
  *this = {overlap, call.start_ns, call.end_ns, call.name};
}

std::string evidence_class_of(const trace::GapRow& row, const trace::NameTable& names) {
  const std::string_view cause = names.text(row.cause), host = names.text(row.host_cause);
  const bool named = !host.empty() && host != kNames.back();
  if (cause == kNames.back() && !named) return {};
  if (host == "host-code") return "gap." + std::string(cause) + ".frame";
  if (host == "host-operator") return "gap." + std::string(cause) + ".operator";  // its first call may be set-up
  // Code of the program or the framework is what is left where no event tells an activity: it is true less often.
  const bool vague = host == "python" || host == "framework" || host == "lock";
  return "gap." + std::string(cause) + (vague ? ".vague" : named ? ".named" : "");
}

GapExplainer::GapExplainer(trace::NameTable& names, const CauseBook* book, const confidence::Table* confidences)
    : names_(names), confidences_(confidences), book_(book) {
  for (std::size_t i = 0; i < kCauses; ++i) names_of_causes_[i] = names.intern(kNames[i]);
  if (book == nullptr) return;
  for (const NamedCause& cause : book->causes()) cause_names_.push_back(names.intern(cause.id));
}

const GapExplainer::Known& GapExplainer::known(const trace::ApiCallRow& row) {
  if (row.name.value >= known_.size()) known_.resize(std::max<std::size_t>(names_.size(), row.name.value + std::size_t{1}));
  Known& known = known_[row.name.value];
  if (known.role != Role::unseen && known.domain == row.domain) return known;
  known = {};
  known.domain = row.domain;
  known.first_ns = row.start_ns;
  known.first_rank = row.rank;
  const std::string_view domain = names_.text(row.domain);
  const std::string_view name = names_.text(row.name);
  const bool runtime = trace::is_gpu_runtime(domain);
  known.of = host_domain(domain).value_or(HostDomain::runtime);
  known.enqueues = runtime && (contains(name, "aunch") || contains(name, "emcpy") || contains(name, "emset"));
  const bool step = name.starts_with("ProfilerStep");
  known.dispatches = domain == "cpu_op" || domain == "python";
  if (const auto of = host_domain(domain); of && book_ != nullptr && !step) known.cause = book_->match(*of, name);
  if (step || (!runtime && domain != "cpu_op" && domain != "python" && !known.cause))
    known.role = Role::ignored;
  else if (runtime && hold_of(name))
    known.role = Role::device_wait;
  else if (runtime && (contains(name, "ynchronize") || contains(name, "signal_wait")))
    known.role = Role::synchronise;
  else if (runtime && (contains(name, "emcpy") || contains(name, "emCopy")))
    known.role = Role::copy;
  else
    known.role = Role::host;
  return known;
}

bool GapExplainer::is_first_call(const Call& call) const {
  const Known& known = known_[call.name.value];
  if (known.first_rank == call.rank) return known.first_ns == call.start_ns;
  const auto first = other_firsts_.find({call.rank, call.name.value});
  return first != other_firsts_.end() && first->second == call.start_ns;
}

GapExplainer::Evidence* GapExplainer::Candidate::of(Role role) {
  switch (role) {
    case Role::synchronise: return &synchronise;
    case Role::copy: return &copy;
    case Role::queued: return &queued;
    case Role::asleep: return &asleep;
    case Role::disk: return &disk;
    default: return &host;
  }
}

void GapExplainer::still_idle(std::vector<Idler> idlers) {
  idlers_ = std::move(idlers);
  std::int64_t oldest = INT64_MAX;
  for (const Idler& idler : idlers_) oldest = std::min(oldest, idler.since_ns);
  schedule_.forget_before(oldest);
  std::erase_if(calls_, [&](const Call& call) { return !is_wanted(call, call.start_ns); });
}

void GapExplainer::add_call(const trace::ApiCallRow& row) {
  if (row.end_ns <= row.start_ns || !trace_time::is_time(row.start_ns) || !trace_time::is_time(row.end_ns)) return;
  const auto& [role, cause, dispatches, domain, of, enqueues, first_ns, first_rank] = known(row);
  if (row.rank != first_rank && of == HostDomain::cpu_op) other_firsts_.try_emplace({row.rank, row.name.value}, row.start_ns);
  if (enqueues) remember_launch(row);
  if (const std::pair place(row.rank, row.thread_id); dispatches && place != last_dispatcher_) {
    dispatchers_.insert(place);
    last_dispatcher_ = place;
  }
  if (dispatches && names_.text(domain) == "python") python_ranks_.insert(row.rank);
  const bool neutral = role == Role::ignored && of == HostDomain::range && book_ != nullptr;  // a frame that may be named
  if (role == Role::ignored && !neutral) return;
  const Call call{row.start_ns, row.end_ns, row.thread_id, row.name, row.rank, role, cause, of};
  if (role == Role::device_wait) {
    holds_.add(row.rank, row.thread_id, {row.start_ns, row.end_ns, row.name, *hold_of(names_.text(row.name))});
    return;
  }
  if (!is_wanted(call, row.start_ns) && !(book_ != nullptr && may_be_joined(call) && is_in_idle_time(call))) return;
  calls_.push_back(call);
  if (calls_.size() >= sweep_at_) sweep(row.start_ns);
}

GapExplainer::Role GapExplainer::wait_role_of(const trace::SchedEventRow& row) {
  const std::string_view kind = names_.text(row.kind);
  if (kind == "run") return Role::host;
  if (kind == "run_queue") return Role::queued;
  if (kind != "off_cpu") return Role::ignored;
  const std::string_view reason = names_.text(row.detail);
  return reason == "io" || reason == "disk_sleep" ? Role::disk : Role::asleep;
}

void GapExplainer::add_schedule(const trace::SchedEventRow& row) {
  const std::int64_t end_ns =
      trace_time::is_time(row.time_ns) && trace_time::is_time(row.duration_ns) ? row.time_ns + row.duration_ns : 0;
  if (end_ns <= row.time_ns) return;
  Role role = wait_role_of(row);
  if (role == Role::ignored) return;
  using State = HostSchedule::State;
  const State state = role == Role::host ? State::run : role == Role::queued ? State::run_queue : State::off_cpu;
  Call call{row.time_ns, end_ns, row.thread_id, row.kind, row.rank, role, {}};
  if (const auto between = schedule_.add(row.rank, row.thread_id, state, row.time_ns, end_ns))
    call = {between->start_ns, between->end_ns, row.thread_id, names_.intern("off_cpu"), row.rank, Role::asleep, {}};
  else if (role == Role::host)
    return;
  if (!is_wanted(call, row.time_ns)) return;
  if (call.role != Role::queued && row.kind == call.name) {
    std::string what = "off_cpu";
    if (const auto reason = names_.text(row.detail); !reason.empty()) what.append(": ").append(reason);
    if (const auto system_call = names_.text(row.call); !system_call.empty()) what.append(" in ").append(system_call);
    call.name = names_.intern(what);
  }
  calls_.push_back(call);
}

// The launch came after the device had fallen idle: what was the host doing?
GapExplainer::Decision GapExplainer::decide_late(const Candidate& candidate) {
  const Gap& gap = candidate.gap;
  const std::int64_t waited = std::min(gap.launch->start_ns, gap.end_ns) - gap.start_ns;
  const std::int64_t launching = gap.end_ns - gap.start_ns - waited;
  if (launching >= waited) {
    if (gap.launch->is_copy) return {Cause::copy, 0.7, nullptr, true};
    return {Cause::launch_latency, 0.8, nullptr, true};
  }
  const auto covers = [&](const Evidence& evidence) {
    if (evidence.overlap_ns <= 0) return false;
    const bool ran_into_it = evidence.start_ns <= gap.start_ns;
    return 2 * evidence.overlap_ns >= waited || (ran_into_it && waited - evidence.overlap_ns <= kRefillNs);
  };
  const std::int64_t queued = candidate.away ? candidate.away->run_queue_ns : 0;
  if (2 * queued >= waited) return {Cause::host_late, 0.9, &candidate.queued};
  if (covers(candidate.synchronise)) return {Cause::synchronisation, 0.8, &candidate.synchronise};
  if (covers(candidate.copy)) return {Cause::copy, 0.7, &candidate.copy};
  // Off its CPU inside a traced call: the call says more, unless it waited for a disk.
  if (candidate.away && 2 * candidate.away->off_cpu_ns >= waited) {
    if (candidate.disk.overlap_ns > candidate.asleep.overlap_ns) return {Cause::host_late, 0.9, &candidate.disk};
    if (candidate.host.overlap_ns < candidate.asleep.overlap_ns) return {Cause::queue_empty, 0.8, &candidate.asleep};
  }
  if (static_cast<double>(candidate.host.overlap_ns) >= kHostShare * static_cast<double>(waited))
    return {Cause::host_late, 0.8, &candidate.host};
  // Nothing that was traced filled the time: the program itself had no work for the device, or did something untraced.
  return {Cause::queue_empty, 0.6, candidate.host.overlap_ns > 0 ? &candidate.host : nullptr};
}

// The launch had begun before the device fell idle.
GapExplainer::Decision GapExplainer::decide_queued(const Candidate& candidate) {
  const Gap& gap = candidate.gap;
  if (gap.launch->is_copy) return {Cause::copy, gap.launch->end_ns > gap.start_ns ? 0.7 : 0.5, nullptr, true};
  if (gap.launch->end_ns > gap.start_ns) return {Cause::launch_latency, 0.8, nullptr, true};
  return {Cause::launch_latency, gap.launch->is_graph ? 0.7 : 0.6, nullptr, true};
}

GapExplainer::Decision GapExplainer::decide(const Candidate& candidate) {
  const Gap& gap = candidate.gap;
  const std::int64_t length = gap.end_ns - gap.start_ns;
  if (gap.launch) {
    if (candidate.is_held()) return candidate.hold ? Decision{Cause::dependency, 0.5} : Decision();
    return gap.launch->start_ns >= gap.start_ns ? decide_late(candidate) : decide_queued(candidate);
  }
  if (2 * candidate.synchronise.overlap_ns >= length) return {Cause::synchronisation, 0.4, &candidate.synchronise};
  if (2 * candidate.copy.overlap_ns >= length) return {Cause::copy, 0.4, &candidate.copy};
  return {};
}

// A copy that returns only when the device has done it, and all before it in its stream.
bool GapExplainer::blocks(const Evidence& copy) const {
  return book_ != nullptr && copy.name.value != 0 &&
         book_->match(HostDomain::runtime, names_.text(copy.name)) == book_->own().synchronous_copy;
}

Explained GapExplainer::explain(const Gap& gap) {
  Candidate candidate;
  candidate.gap = gap;
  if (gap.launch) candidate.hold = holds_.before(gap.rank, gap.launch->thread_id, gap.launch->start_ns, gap.launch->after_ns);
  if (gap.launch)
    candidate.away = schedule_.away(gap.rank, gap.launch->thread_id, gap.start_ns,
                                    std::min(gap.end_ns, std::max(gap.start_ns, gap.launch->start_ns)));
  for (const Call& call : calls_) {
    if (call.role == Role::ignored || call.rank != gap.rank || call.end_ns <= gap.start_ns || call.start_ns >= gap.end_ns)
      continue;
    if (gap.launch && gap.launch->thread_id != call.thread_id) continue;
    if (book_ != nullptr && call.cause == book_->own().unknown) continue;  // a silence of the profiler
    const std::int64_t until = gap.launch ? std::min(gap.end_ns, std::max(gap.start_ns, gap.launch->start_ns)) : gap.end_ns;
    const std::int64_t overlap = std::min(call.end_ns, until) - std::max(call.start_ns, gap.start_ns);
    candidate.of(call.role)->offer(overlap, call);
  }
  Decision decision = decide(candidate);
  Explained out;
  if (book_ != nullptr) name_cause(candidate, decision, out);
  out.cause = decision.cause;
  const auto waited_in = [&](const Evidence& wait) {
    return wait.overlap_ns > 0 && wait.start_ns <= gap.start_ns && wait.end_ns <= gap.launch->start_ns;
  };
  const auto reads = [&](trace::NameId work, const Evidence& copy) { return names_.text(work) == "d2h" && blocks(copy); };
  out.drained =
      gap.launch && (waited_in(candidate.synchronise) || (reads(gap.previous, candidate.copy) && waited_in(candidate.copy)) ||
                     (gap.launch->is_copy && reads(gap.next, {0, 0, 0, gap.launch->api})));
  out.ends_in_copy = gap.launch && gap.launch->is_copy;
  trace::GapRow& row = out.row;
  row.rank = gap.rank;
  row.device = gap.device;
  row.start_ns = gap.start_ns;
  row.end_ns = gap.end_ns;
  row.cause = names_of_causes_[static_cast<std::size_t>(decision.cause)];
  row.confidence = decision.confidence;
  row.previous = gap.previous;
  row.next = gap.next;
  if (gap.launch) {
    row.launch_start_ns = gap.launch->start_ns;
    row.launch_end_ns = gap.launch->end_ns;
  }
  if (confidences_ != nullptr) {
    const std::string evidence = evidence_class_of(row, names_);
    row.confidence = evidence.empty() ? 0 : confidences_->of(evidence).value_or(kUnjudged);
  }
  if (candidate.away) {
    row.host_run_queue_ns = candidate.away->run_queue_ns;
    row.host_off_cpu_ns = candidate.away->off_cpu_ns;
  }
  if (row.evidence.value != 0) {
    // Named above: the frame that the cause was read from.
  } else if (decision.cause == Cause::dependency) {
    row.evidence = candidate.hold->name;
    row.evidence_start_ns = candidate.hold->start_ns;
    row.evidence_end_ns = candidate.hold->end_ns;
  } else if (decision.evidence != nullptr) {
    row.evidence = decision.evidence->name;
    row.evidence_start_ns = decision.evidence->start_ns;
    row.evidence_end_ns = decision.evidence->end_ns;
  } else if (decision.evidence_is_launch) {
    row.evidence = gap.launch->api;
    row.evidence_start_ns = gap.launch->start_ns;
    row.evidence_end_ns = gap.launch->end_ns;
  }
  return out;
}

}  // namespace aaco::analytics::gaps
