#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/confidence.h"
#include "analytics/gap_causes.h"
#include "analytics/host_schedule.h"
#include "analytics/stream_holds.h"
#include "trace/names.h"
#include "trace/rows.h"

// Why a device was idle: compares each gap with the host events of the thread that launched the next work and, if the
// operating system's scheduler was recorded, with whether that thread had a CPU.
namespace aaco::analytics::gaps {

// Typical launch cost of current drivers; shorter gaps are the normal distance between dependent kernels.
inline constexpr std::int64_t kDefaultThresholdNs = 5'000;

// Work that lay in the queue for longer than this while the device was idle waited for something that the trace does not show.
inline constexpr std::int64_t kDispatchNs = 50'000;
// Up to this long a gap between two kernels is what an eager framework needs to launch the next operator; a host that is late for
// longer did something else (our own judgement: operators of PyTorch take 5 to 100 us on the host).
inline constexpr std::int64_t kLaunchGapNs = 200'000;
// A launch call of this length is held up by something; others take 3 to 50 us (our own judgement: code objects of the shared
// traces load in 1 to 330 ms).
inline constexpr std::int64_t kLongLaunchNs = 1'000'000;
// An allocation or a free of this length before a kernel that never ran before is the driver's or a library's set-up (our own
// judgement: allocations of the shared traces take up to 10 ms, the first ones inside a library 0.5 to 6.5 s).
inline constexpr std::int64_t kSetUpCallNs = 100'000'000;
// Operators that launch nothing for this long compute on the CPU (our own judgement: dispatching one takes 5 to 100 us).
inline constexpr std::int64_t kLongOperatorNs = 1'000'000;
// Enqueueing a collective takes 20 to 100 us; a first one of this length makes the connections of its communicator (our own
// judgement: that takes 50 ms to some seconds).
inline constexpr std::int64_t kSetUpCollectiveNs = 10'000'000;
// Between operators a thread runs Python or program code. Without recorded Python frames a longer silence than this may be
// anything, a pause of the whole process too: unknown.
inline constexpr std::int64_t kSilenceNs = 10'000'000;

enum class Cause : std::uint8_t { host_late, launch_latency, synchronisation, copy, dependency, queue_empty, unknown };
inline constexpr std::size_t kCauses = 7;
std::string_view to_string(Cause cause);

// The call that launched the work ending the gap.
struct NextLaunch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t thread_id = 0;
  trace::NameId api;
  bool is_copy = false;                       // of the work
  bool is_graph = false;                      // a graph launch: its kernels come one after another without the host
  bool is_first = false;                      // of this kernel in the trace: code may be loaded in the call
  bool is_inner = false;                      // of a graph launch: the work before it in its stream is of the same launch
  std::optional<std::int64_t> after_ns = {};  // when the work before it in its stream was launched; empty: unknown
};

// Work of another device of the same process that ended when a gap did, after it had kept that device busy for half of the gap.
struct PeerWork {
  trace::NameId name;
  std::int64_t launch_start_ns = 0, start_ns = 0, end_ns = 0;
};

struct Gap {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  trace::NameId previous;
  trace::NameId next;
  std::optional<NextLaunch> launch;  // empty: the launch is not in the trace
  // Since when the device had been busy, but for gaps too short to be asked for a cause; empty: unknown.
  std::optional<std::int64_t> busy_since_ns = {};
  bool before_kernels = false;  // no kernel has run on the device
  std::optional<PeerWork> peer = {};
};

// Since when a device has been idle.
struct Idler {
  std::int32_t rank = 0;
  std::int64_t since_ns = 0;
};

// What the confidence of a gap's cause is learned from: "gap.launch_latency", "gap.host_late.named" where the host's cause is
// named too, "gap.host_late.frame" where the frame is named and its kind is not known, "gap.host_late.vague" where it is dispatch
// or code between operators. Empty: neither cause is known.
std::string evidence_class_of(const trace::GapRow& row, const trace::NameTable& names);

struct Explained {
  trace::GapRow row;
  Cause cause = Cause::unknown;
  // Of the whole gap, by named cause, the largest first, and the one that names the gap. Empty without a book of causes.
  std::vector<HostShare> host;
  std::optional<CauseIndex> host_cause;
  trace::NameId host_frame;   // the event that the host's cause was read from; 0: none
  bool drained = false;       // the host had waited for the device to finish, and launched the next work only then
  bool ends_in_copy = false;  // or in a fill
};

// Follows a trace in time order, in bounded memory. For each gap, when the work that ends it is known: still_idle() with the end
// of every device's work so far, add_call() and add_schedule() for what starts before the gap's end and was not added yet (each
// in order of start), then explain(). Calls that can say nothing of any open gap are forgotten: those that ended before, and,
// once a gap is longer than kFineGapNs, those shorter than its kCoarseness-th part.
class GapExplainer {
 public:
  static constexpr std::int64_t kFineGapNs = 10'000'000;
  static constexpr std::int64_t kCoarseness = 512;
  static constexpr std::int64_t kSilenceShare = 4;  // of a short call: the most between it and the one before to keep both as one
  static constexpr std::size_t kSweepAt = 4096;     // calls

  // Without a book of causes no gap gets a named one. With a table, a gap's confidence is that of its evidence class there
  // (evidence_class_of; 0.5 if the table lacks it, 0 of gaps without a cause), otherwise our own judgement by evidence.
  explicit GapExplainer(trace::NameTable& names, const CauseBook* book = nullptr, const confidence::Table* confidences = nullptr);
  void still_idle(std::vector<Idler> idlers);
  void add_call(const trace::ApiCallRow& row);
  void add_schedule(const trace::SchedEventRow& row);
  // The call that launched the first execution of a kernel; for calls of kLongLaunchNs and more.
  void note_first_launch(std::int32_t rank, std::int64_t start_ns);
  Explained explain(const Gap& gap);
  [[nodiscard]] std::size_t calls_kept() const { return calls_.size(); }

 private:
  enum class Role : std::uint8_t { unseen, ignored, synchronise, copy, device_wait, host, queued, asleep, disk };
  struct Call {
    std::int64_t start_ns = 0, end_ns = 0, thread_id = 0;
    trace::NameId name;
    std::int32_t rank = 0;
    Role role = Role::host;
    std::optional<CauseIndex> cause;
    HostDomain domain = HostDomain::runtime;
    [[nodiscard]] bool is_runtime() const { return domain == HostDomain::runtime; }
    // Profilers record their overhead on a thread of its own or on the one that it holds up.
    [[nodiscard]] bool is_overhead() const { return domain == HostDomain::overhead; }
  };
  struct Known {
    Role role = Role::unseen;
    std::optional<CauseIndex> cause;
    bool dispatches = false;  // an operator or a Python frame
    trace::NameId domain;
    HostDomain of = HostDomain::runtime;
    bool enqueues = false;      // gives the device work
    std::int64_t first_ns = 0;  // start of the first event of this name, and its rank
    std::int32_t first_rank = 0;
  };
  struct Evidence {
    std::int64_t overlap_ns = 0;  // with the time the host kept the device waiting
    std::int64_t start_ns = 0, end_ns = 0;
    trace::NameId name;
    void offer(std::int64_t overlap, const Call& call);
  };
  struct Candidate {
    Gap gap;
    Evidence synchronise, copy, host;
    Evidence queued, asleep, disk;  // the launching thread had no CPU
    std::optional<HoldCall> hold;   // the call that made the stream wait before the launch
    // The work was launched and lay there for most of the gap.
    [[nodiscard]] bool is_held() const;
    std::optional<HostAway> away;
    [[nodiscard]] Evidence* of(Role role);
  };
  struct Decision {
    Cause cause = Cause::unknown;
    double confidence = 0;
    const Evidence* evidence = nullptr;
    bool evidence_is_launch = false;
  };
  const Known& known(const trace::ApiCallRow& row);
  [[nodiscard]] bool is_first_call(const Call& call) const;
  Role wait_role_of(const trace::SchedEventRow& row);
  [[nodiscard]] bool is_wanted(const Call& call, std::int64_t now_ns) const;
  [[nodiscard]] bool is_in_idle_time(const Call& call) const;
  [[nodiscard]] bool may_be_joined(const Call& call) const;
  void sweep(std::int64_t now_ns);
  static Decision decide(const Candidate& candidate);
  static Decision decide_late(const Candidate& candidate);
  static Decision decide_queued(const Candidate& candidate);
  struct Held {
    CauseIndex cause = 0;
    Evidence evidence;
  };
  [[nodiscard]] Held held_by(const Candidate& candidate) const;
  [[nodiscard]] const Call* host_function_of(const Gap& gap) const;
  void name_cause(const Candidate& candidate, Decision& decision, Explained& out);
  struct ReadFrame {
    std::size_t frame = 0;  // its place among the gap's frames
    std::int64_t start_ns = 0, end_ns = 0;
    bool of_device = false;
  };
  void note_read(const Call& call, const HostFrame& frame, std::size_t index, const Gap& gap, std::int64_t until_ns,
                 std::vector<ReadFrame>& reads) const;
  [[nodiscard]] const std::vector<HostFrame>& frames_of(const Gap& gap, std::int64_t thread_id, std::int64_t until_ns);
  void spread_warmup(std::vector<HostFrame>& frames) const;
  void note_compilers(const Gap& gap, std::vector<HostFrame>& frames) const;
  [[nodiscard]] bool blocks(const Evidence& copy) const;
  bool add_search(const Gap& gap, std::vector<HostFrame>& frames) const;
  bool add_first_call(const Gap& gap, std::vector<HostFrame>& frames) const;
  [[nodiscard]] HostFrame frame_of(const Call& call, const Gap& gap) const;
  [[nodiscard]] HostFrame launch_frame(const Gap& gap) const;
  [[nodiscard]] CauseIndex long_launch_cause(const Gap& gap) const;
  [[nodiscard]] CauseIndex earlier_launch_cause(const Call& call) const;
  [[nodiscard]] std::optional<HostShare> elsewhere(const Gap& gap, std::int64_t thread_id) const;
  struct Awaited {
    HostShare share;
    const Call* call = nullptr;
  };
  [[nodiscard]] std::optional<Awaited> awaited(const Gap& gap, std::int64_t thread_id, const HostShare& wait) const;
  [[nodiscard]] std::optional<CauseIndex> scheduled_cause(const Candidate& candidate) const;
  struct NamedFrames {
    std::vector<const Call*> named;
    std::vector<const Call*> others;  // each of kLongOperatorNs or more
  };
  [[nodiscard]] NamedFrames named_frames(const Gap& gap) const;
  [[nodiscard]] CauseIndex frame_cause(const Call& frame, const Gap& gap) const;
  [[nodiscard]] const Call* filling(const Gap& gap) const;
  bool name_unlinked(const Gap& gap, Explained& out) const;
  trace::NameId chain_of(const std::vector<const Call*>& frames);
  void remember_launch(const trace::ApiCallRow& row);
  bool streams_weights(std::int32_t rank);
  [[nodiscard]] const Call* evidence_of(const Gap& gap, std::int64_t thread_id, const HostShare& share) const;

  trace::NameTable& names_;
  const confidence::Table* confidences_;
  const CauseBook* book_ = nullptr;
  std::vector<trace::NameId> cause_names_;  // by index in the book
  std::array<trace::NameId, kCauses> names_of_causes_;
  std::vector<HostFrame> frames_;                                                // of the gap in question
  std::vector<Known> known_;                                                     // by name, of the domain it was last seen in
  std::map<std::pair<std::int32_t, std::uint32_t>, std::int64_t> other_firsts_;  // of further ranks: by rank and name
  std::map<std::int32_t, std::int64_t> launching_;                               // by rank: the thread that launched last
  // By rank and thread, those with operators or Python frames: what nothing covers there is code between two of them.
  std::set<std::pair<std::int32_t, std::int64_t>> dispatchers_;
  std::set<std::int32_t> python_ranks_;  // whose Python frames were recorded
  std::pair<std::int32_t, std::int64_t> last_dispatcher_{-1, -1};
  using Place = std::pair<std::int32_t, std::int64_t>;       // rank, thread
  std::map<Place, std::deque<std::int64_t>> launch_starts_;  // the newest
  std::pair<Place, std::deque<std::int64_t>*> last_launches_{{-1, -1}, nullptr};
  struct Loads {
    std::int64_t launch_count = 0;                 // so far
    std::optional<std::int64_t> launches_at_load;  // at the end of the newest gap in which weights were loaded
    std::int64_t round_count = 0;                  // gaps that loaded weights after computations on the weights before
  };
  std::map<std::int32_t, Loads> loads_;                             // by rank
  Loads* last_loads_ = nullptr;                                     // of the rank of last_launches_
  std::set<std::pair<std::int32_t, std::int64_t>> first_launches_;  // long ones: rank and start
  std::vector<Call> calls_;
  std::size_t sweep_at_ = kSweepAt;  // calls
  std::vector<Idler> idlers_;
  StreamHolds holds_;
  HostSchedule schedule_;
};

// Idle time by cause.
struct CauseSum {
  std::int64_t gap_count = 0;
  std::int64_t idle_ns = 0;
  std::int64_t short_idle_ns = 0;  // in gaps of at most kLaunchGapNs in which the host had no activity of its own
  std::int64_t drained_ns = 0;     // in short gaps after the host had waited for the device to finish, or for a value of it
  std::int64_t issue_ns = 0;       // of short_idle_ns, before a copy or a fill
  std::int64_t warmup_ns = 0;      // in gaps whose named cause does not recur: loading code, compiling, initialising
  std::int64_t blocked_ns = 0;     // in gaps whose named cause is no matter of launching: a call held up by something else
  std::int64_t held_ns = 0;        // in gaps whose work had been launched and was held back on the device
};

// Idle time by named cause.
struct HostCauseSum {
  static constexpr std::size_t kMaxFrames = 10'000;
  std::int64_t gap_count = 0;                    // gaps named by it
  std::int64_t idle_ns = 0;                      // its time in all gaps
  std::map<std::uint32_t, std::int64_t> frames;  // of these gaps, by the event (its NameId) that the cause was read from
};

// The gaps of one device, added up.
struct GapSums {
  std::map<Cause, CauseSum> causes;
  std::map<CauseIndex, HostCauseSum> host_causes;
  void add(const Explained& gap, const CauseBook& book);
};

}  // namespace aaco::analytics::gaps
