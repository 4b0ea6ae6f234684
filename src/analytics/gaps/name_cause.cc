#include <algorithm>
#include <string_view>

#include "analytics/gaps.h"

// The named cause of a gap: the time of the launching thread by what it was in, then the time from its launch to the work.
namespace aaco::analytics::gaps {
namespace {

constexpr std::int64_t kSetUpOperatorNs = 20'000'000;  // our own judgement

void add_share(std::vector<HostShare>& shares, CauseIndex cause, std::int64_t time_ns) {
  if (time_ns <= 0) return;
  const auto place = std::find_if(shares.begin(), shares.end(), [&](const HostShare& share) { return share.cause == cause; });
  if (place != shares.end())
    place->time_ns += time_ns;
  else
    shares.push_back({cause, time_ns});
}

void sort_shares(std::vector<HostShare>& shares) {
  std::erase_if(shares, [](const HostShare& share) { return share.time_ns <= 0; });
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
}

CauseIndex largest(const std::vector<HostShare>& shares) {
  return std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; })
      ->cause;
}

std::int64_t overlap_of(std::int64_t start_ns, std::int64_t end_ns, const Gap& gap) {
  return std::min(end_ns, gap.end_ns) - std::max(start_ns, gap.start_ns);
}

// The longest time within [from, until] in which no frame was open.
std::int64_t longest_silence(const std::vector<HostFrame>& frames, std::int64_t from_ns, std::int64_t until_ns) {
  std::int64_t covered = from_ns, longest = 0;
  for (const HostFrame& frame : frames) {  // in order of start
    longest = std::max(longest, std::min(frame.start_ns, until_ns) - covered);
    covered = std::max(covered, frame.end_ns);
  }
  return std::max(longest, until_ns - covered);
}

// A built-in method of an object without a type of its own says nothing without its caller.
bool is_opaque(std::string_view name) {
  return name.starts_with("<built-in method") &&
         (name.find(" of PyCapsule ") != std::string_view::npos || name.find("pybind11_") != std::string_view::npos);
}

}  // namespace

HostFrame GapExplainer::frame_of(const Call& call, const Gap& gap) const {
  const auto& own = book_->own();
  const std::int64_t length = call.end_ns - call.start_ns;
  if (call.is_runtime() && *call.cause == own.launch && length >= kLongLaunchNs)
    return {call.start_ns, call.end_ns, earlier_launch_cause(call), false};
  // A runtime call of milliseconds that no pattern knows is no dispatch: it is named.
  if (call.is_runtime() && *call.cause == own.framework && length >= kLongLaunchNs)
    return {call.start_ns, call.end_ns, own.host_code, false};
  const bool sets_up =
      call.is_runtime() && *call.cause == own.allocation && length >= kSetUpCallNs && gap.launch && gap.launch->is_first;
  // The first collective of a communicator makes its connections.
  const bool connects = *call.cause == own.collective_launch && length >= kSetUpCollectiveNs && is_first_call(call);
  // The first stream or event of a process waits for what the runtime sets up with it.
  const bool makes_context =
      call.is_runtime() && book_->at(*call.cause).id == "resource-creation" && length >= kSetUpCallNs && is_first_call(call);
  const bool initialises = connects || makes_context;
  const CauseIndex cause = sets_up ? own.first_allocation : initialises ? own.library_initialisation : *call.cause;
  const NamedCause& named = book_->at(cause);
  // A system call inside a call of a library is how that library does its work.
  return {call.start_ns, call.end_ns, cause, named.weak || call.domain == HostDomain::os, named.gives_way_to};
}

// A launch is a cause of its own where it is long: it loads code, or is blocked.
HostFrame GapExplainer::launch_frame(const Gap& gap) const {
  const auto& own = book_->own();
  const NextLaunch& launch = *gap.launch;
  const std::int64_t length = launch.end_ns - launch.start_ns;
  if (length >= kLongLaunchNs) return {launch.start_ns, launch.end_ns, long_launch_cause(gap), false};
  const CauseIndex cause =
      launch.is_graph ? own.graph_launch : book_->match(HostDomain::runtime, names_.text(launch.api)).value_or(own.launch);
  return {launch.start_ns, launch.end_ns, cause, book_->at(cause).weak && length < kLaunchGapNs};
}

// "aten::item" of a value in the host's memory reads nothing from the device: no copy and no synchronisation is inside of it. Of
// one that is only in part within `gap` that is not known.
void GapExplainer::note_read(const Call& call, const HostFrame& frame, std::size_t index, const Gap& gap, std::int64_t until_ns,
                             std::vector<ReadFrame>& reads) const {
  constexpr std::size_t kNested = 4;
  if (call.is_runtime() && (call.role == Role::copy || call.role == Role::synchronise))
    for (std::size_t i = reads.size() - std::min(reads.size(), kNested); i < reads.size(); ++i)
      reads[i].of_device = reads[i].of_device || (call.start_ns >= reads[i].start_ns && call.end_ns <= reads[i].end_ns);
  if (call.domain != HostDomain::cpu_op || frame.cause != book_->own().synchronous_copy) return;
  reads.push_back({index, call.start_ns, call.end_ns, call.start_ns < gap.start_ns || call.end_ns > until_ns});
}

const std::vector<HostFrame>& GapExplainer::frames_of(const Gap& gap, std::int64_t thread_id, std::int64_t until_ns) {
  std::vector<HostFrame>& frames = frames_;
  frames.clear();
  std::vector<ReadFrame> reads;
  bool launched = !gap.launch || gap.launch->thread_id != thread_id;
  // A silence of the profiler says nothing within an event whose cause is known: that is what lasted.
  const auto is_told = [&](const Call& silence) {
    const auto& own = book_->own();
    return std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
      return call.cause && call.rank == gap.rank && call.thread_id == thread_id && call.start_ns <= silence.start_ns &&
             call.end_ns >= silence.end_ns && *call.cause != own.python && *call.cause != own.framework &&
             *call.cause != own.unknown;
    });
  };
  for (const Call& call : calls_) {
    if (!call.cause || call.rank != gap.rank || call.thread_id != thread_id || call.end_ns <= gap.start_ns ||
        call.start_ns >= until_ns)
      continue;
    if (call.cause == book_->own().unknown && is_told(call)) continue;
    const bool is_launch = !launched && call.start_ns == gap.launch->start_ns && call.name == gap.launch->api;
    launched = launched || is_launch;
    frames.push_back(is_launch ? launch_frame(gap) : frame_of(call, gap));
    note_read(call, frames.back(), frames.size() - 1, gap, until_ns, reads);
  }
  for (const ReadFrame& read : reads)
    if (!read.of_device)
      frames[read.frame] = {frames[read.frame].start_ns, frames[read.frame].end_ns, book_->own().framework, true};
  if (!launched && gap.launch->end_ns > gap.start_ns) frames.push_back(launch_frame(gap));
  sort_frames(frames);
  note_compilers(gap, frames);
  spread_warmup(frames);
  return frames;
}

// An operator that loads or compiles code chooses, builds and sets up a kernel around that call, once: its time is warm-up too.
// So is that of the innermost event around a long call of the kind, but not of the events around that one.
void GapExplainer::spread_warmup(std::vector<HostFrame>& frames) const {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const HostFrame call = frames[i];
    if (call.weak || call.end_ns - call.start_ns < kLongLaunchNs || book_->at(call.cause).class_id != "warmup") continue;
    for (std::size_t outer = i; outer-- > 0;) {
      HostFrame& frame = frames[outer];
      if (frame.end_ns < call.end_ns) continue;
      if (frame.cause == book_->own().framework) frame = {frame.start_ns, frame.end_ns, call.cause, false};
      break;
    }
  }
}

// An operator that takes milliseconds on the host before a kernel that never ran, and has launched others before it, tries
// algorithms: cuDNN and MIOpen do so at the first call for a shape.
bool GapExplainer::add_search(const Gap& gap, std::vector<HostFrame>& frames) const {
  if (!gap.launch || !gap.launch->is_first || gap.launch->start_ns - gap.start_ns < kLongLaunchNs) return false;
  const Call* innermost = nullptr;
  for (const Call& call : calls_) {
    if (call.domain != HostDomain::cpu_op || call.rank != gap.rank || call.thread_id != gap.launch->thread_id) continue;
    if (call.start_ns >= gap.start_ns || call.end_ns < gap.launch->end_ns || call.cause != book_->own().framework) continue;
    if (innermost == nullptr || call.start_ns >= innermost->start_ns) innermost = &call;
  }
  const auto starts = launch_starts_.find({gap.rank, gap.launch->thread_id});
  if (innermost == nullptr || starts == launch_starts_.end()) return false;
  const auto before = [&](std::int64_t start) { return start > innermost->start_ns && start < gap.launch->start_ns; };
  if (std::none_of(starts->second.begin(), starts->second.end(), before)) return false;
  frames.push_back({innermost->start_ns, innermost->end_ns, book_->own().first_use, false});
  sort_frames(frames);
  return true;
}

// The first call of an operator that takes far longer than any dispatch before it launches a kernel that never ran sets something
// up.
bool GapExplainer::add_first_call(const Gap& gap, std::vector<HostFrame>& frames) const {
  if (!gap.launch || !gap.launch->is_first) return false;
  const Call* innermost = nullptr;
  for (const Call& call : calls_) {
    if (call.domain != HostDomain::cpu_op || call.rank != gap.rank || call.thread_id != gap.launch->thread_id) continue;
    if (call.start_ns > gap.launch->start_ns || call.end_ns < gap.launch->end_ns) continue;
    if (innermost == nullptr || call.start_ns >= innermost->start_ns) innermost = &call;
  }
  if (innermost == nullptr || innermost->cause != book_->own().framework || !is_first_call(*innermost)) return false;
  if (gap.launch->start_ns - std::max(innermost->start_ns, gap.start_ns) < kSetUpOperatorNs) return false;
  frames.push_back({innermost->start_ns, gap.launch->start_ns, book_->own().first_use, false});
  sort_frames(frames);
  return true;
}

std::optional<CauseIndex> GapExplainer::scheduled_cause(const Candidate& candidate) const {
  const Gap& gap = candidate.gap;
  if (!candidate.away || !gap.launch) return std::nullopt;
  const std::int64_t waited = std::min(gap.launch->start_ns, gap.end_ns) - gap.start_ns;
  if (waited <= 0) return std::nullopt;
  if (2 * candidate.away->run_queue_ns >= waited) return book_->own().cpu_contention;
  if (2 * candidate.away->off_cpu_ns < waited) return std::nullopt;
  return candidate.disk.overlap_ns > candidate.asleep.overlap_ns ? book_->own().disk : book_->own().sleep;
}

// The innermost frame that has half of the cause's time; of the network the outermost, since its client is what the program
// knows.
const GapExplainer::Call* GapExplainer::evidence_of(const Gap& gap, std::int64_t thread_id, const HostShare& share) const {
  const Call* found = nullptr;
  std::int64_t longest = 0;
  const bool outermost = book_->at(share.cause).id == "network";
  for (const Call& call : calls_) {
    if (outermost && 2 * longest >= share.time_ns) break;
    if (!call.cause || call.rank != gap.rank || frame_of(call, gap).cause != share.cause) continue;
    if (call.thread_id != thread_id && !call.is_overhead() && !book_->at(share.cause).any_thread) continue;
    const std::int64_t overlap = overlap_of(call.start_ns, call.end_ns, gap);
    if (overlap <= 0 || (2 * overlap < share.time_ns && overlap <= longest)) continue;
    found = &call;
    longest = std::max(longest, overlap);
  }
  return found;
}

void GapSums::add(const Explained& gap, const CauseBook& book) {
  const std::int64_t length = gap.row.end_ns - gap.row.start_ns;
  CauseSum& sum = causes[gap.cause];
  ++sum.gap_count;
  sum.idle_ns += length;
  // A short gap with an activity of its own is no matter of launching.
  const NamedCause* named_cause = gap.host_cause ? &book.at(*gap.host_cause) : nullptr;
  const bool activity = named_cause != nullptr && !named_cause->weak && named_cause->class_id != "launch";
  if (length <= kLaunchGapNs && !activity) sum.short_idle_ns += length;
  if (length <= kLaunchGapNs && !activity && gap.ends_in_copy) sum.issue_ns += length;
  if (gap.host_cause) {
    HostCauseSum& named = host_causes[*gap.host_cause];
    ++named.gap_count;
    if (gap.host_frame.value != 0 &&
        (named.frames.size() < HostCauseSum::kMaxFrames || named.frames.contains(gap.host_frame.value)))
      named.frames[gap.host_frame.value] += length;
  }
  if (length <= kLaunchGapNs && gap.drained) sum.drained_ns += length;
  if (gap.host_cause && book.at(*gap.host_cause).class_id == "warmup") sum.warmup_ns += length;
  if (gap.host_cause && book.at(*gap.host_cause).class_id == "host") sum.blocked_ns += length;
  if (gap.cause == Cause::dependency || gap.cause == Cause::unknown)
    for (const HostShare& share : gap.host)
      if (is_held_back(book.at(share.cause))) sum.held_ns += share.time_ns;
  for (const HostShare& share : gap.host) host_causes[share.cause].idle_ns += share.time_ns;
}

void GapExplainer::name_cause(const Candidate& candidate, Decision& decision, Explained& out) {
  const Gap& gap = candidate.gap;
  const auto& own = book_->own();
  const std::int64_t length = gap.end_ns - gap.start_ns;
  if (length <= 0) return;
  if (gap.launch) launching_[gap.rank] = gap.launch->thread_id;
  const auto thread = launching_.find(gap.rank);
  if (thread == launching_.end() && name_unlinked(gap, out)) return;
  const std::int64_t until = gap.launch ? std::clamp(gap.launch->end_ns, gap.start_ns, gap.end_ns) : gap.end_ns;
  auto& shares = out.host;
  struct NamedFrame {
    CauseIndex cause = 0;
    trace::NameId name;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::optional<NamedFrame> named;
  trace::NameId chain;
  if (thread != launching_.end()) {
    const auto& frames = frames_of(gap, thread->second, until);
    const bool program = dispatchers_.contains({gap.rank, thread->second}) &&
                         (python_ranks_.contains(gap.rank) || longest_silence(frames, gap.start_ns, until) <= kSilenceNs);
    shares = host_time(frames, gap.start_ns, until, program ? own.python : own.unknown);
    CauseIndex most = shares.empty() ? own.launch : largest(shares);
    if (most == own.framework && (add_search(gap, frames_) || add_first_call(gap, frames_))) {
      shares = host_time(frames_, gap.start_ns, until, program ? own.python : own.unknown);
      most = largest(shares);
    }
    if (most == own.python || most == own.framework || most == own.unknown)
      if (const auto found = named_frames(gap); !found.named.empty()) {
        const Call* frame = found.named.back();
        const CauseIndex cause = frame_cause(*frame, gap);
        frames_.push_back({frame->start_ns, frame->end_ns, cause, false});
        for (const Call* other : found.others)
          if (other != frame) frames_.push_back({other->start_ns, other->end_ns, frame_cause(*other, gap), false});
        sort_frames(frames_);
        shares = host_time(frames_, gap.start_ns, until, program ? own.python : own.unknown);
        chain = chain_of(found.named);
        named = NamedFrame{cause, is_opaque(names_.text(frame->name)) ? chain : frame->name, frame->start_ns, frame->end_ns};
      }
  } else
    add_share(shares, own.unknown, length);
  // Nothing has run yet: a long silence is the program's start.
  if (gap.before_kernels && length > kSilenceNs)
    for (HostShare& share : shares)
      if (share.cause == own.unknown) share.cause = own.start_up;
  if (const std::int64_t after = gap.end_ns - until; gap.launch && after > 0) {
    if (candidate.is_held() && candidate.hold) {
      const Held held = held_by(candidate);
      add_share(shares, held.cause, after);
      chain = held.evidence.name;
      named = NamedFrame{held.cause, held.evidence.name, held.evidence.start_ns, held.evidence.end_ns};
    } else {
      const bool queued = candidate.is_held() || gap.launch->end_ns <= gap.start_ns;
      add_share(shares, queued ? own.device_latency : own.launch_latency, after);
    }
  }
  sort_shares(shares);
  const auto yields = [&](CauseIndex cause) {
    return book_->at(cause).weak || cause == own.synchronisation || cause == own.host_code || cause == own.host_operator;
  };
  if (yields(shares.front().cause)) {
    std::optional<HostShare> better;
    if (thread != launching_.end()) better = elsewhere(gap, thread->second);
    if (const auto other = better || thread == launching_.end() ? std::nullopt : awaited(gap, thread->second, shares.front())) {
      better = other->share;
      named = NamedFrame{other->share.cause, other->call->name, other->call->start_ns, other->call->end_ns};
      chain = other->call->name;
    }
    if (const auto scheduled = scheduled_cause(candidate); !better && scheduled)
      if (shares.front().cause == own.unknown || *scheduled != own.sleep) better = HostShare{*scheduled, shares.front().time_ns};
    if (better) {
      std::int64_t taken = 0;
      for (HostShare& share : shares) {
        if (!yields(share.cause)) continue;
        const std::int64_t part = std::min(share.time_ns, better->time_ns - taken);
        share.time_ns -= part;
        taken += part;
      }
      add_share(shares, better->cause, taken);
      sort_shares(shares);
    }
  }
  const HostShare first = shares.front();  // as the events say
  if (first.cause == own.model_loading && streams_weights(gap.rank)) shares.front().cause = own.weight_streaming;
  out.host_cause = shares.front().cause;
  out.row.host_cause = cause_names_[*out.host_cause];
  out.row.host_cause_ns = first.time_ns;
  const bool fills = first.cause != own.unknown && 2 * first.time_ns >= length;
  // A call that loads code is no launch rate, and many short events explain as well as a long one.
  const bool warmup = book_->at(*out.host_cause).class_id == "warmup";
  if ((warmup && decision.cause != Cause::copy) || (fills && decision.cause == Cause::queue_empty && !candidate.away))
    decision = {Cause::host_late, 0.8, decision.evidence, decision.evidence_is_launch};
  if (named && named->cause == first.cause) {
    out.host_frame = chain;
    out.row.evidence = named->name;
    out.row.evidence_start_ns = named->start_ns;
    out.row.evidence_end_ns = named->end_ns;
    return;
  }
  if (thread == launching_.end()) return;
  const Call* call = evidence_of(gap, thread->second, first);
  if (call == nullptr) return;
  out.host_frame = call->name;
  if (book_->at(first.cause).id == "network") {  // as of named frames: the client, and what it waits in
    const Call* client = call;
    for (const Call& inner : calls_)
      if (inner.rank == gap.rank && inner.thread_id == client->thread_id && inner.start_ns >= call->start_ns &&
          inner.end_ns <= client->end_ns && 2 * overlap_of(inner.start_ns, inner.end_ns, gap) >= first.time_ns)
        call = &inner;
    if (call != client) out.host_frame = chain_of({client, call});
  }
  if (decision.cause != Cause::host_late || decision.evidence_is_launch) return;
  out.row.evidence = call->name;
  out.row.evidence_start_ns = call->start_ns;
  out.row.evidence_end_ns = call->end_ns;
}

}  // namespace aaco::analytics::gaps
