#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// Why a device was idle: each gap against the host events of the thread that launched the work which ended it.
namespace aaco::analytics::gaps {

// A launch costs about this much on today's drivers; shorter gaps are the ordinary distance between dependent kernels.
inline constexpr std::int64_t kDefaultThresholdNs = 5'000;

enum class Cause : std::uint8_t { host_late, launch_latency, synchronisation, copy, queue_empty, unknown };
inline constexpr std::size_t kCauses = 6;
std::string_view to_string(Cause cause);

// The call that launched the work which ended the gap.
struct NextLaunch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t thread_id = 0;
  trace::NameId api;
  bool is_copy = false;   // of the work
  bool is_graph = false;  // a graph launch: its kernels come one after another without the host
};

struct Gap {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  trace::NameId previous;
  trace::NameId next;
  std::optional<NextLaunch> launch;  // empty: the launch is not in the trace
};

// Call order: add_gap() for all (in time order within a device), then add_call() for every API call row in any order, then
// finish().
class GapExplainer {
 public:
  explicit GapExplainer(trace::NameTable& names) : names_(names) {}
  void add_gap(const Gap& gap);
  void add_call(const trace::ApiCallRow& row);
  [[nodiscard]] bool empty() const { return gaps_.empty(); }
  // By device, in time order.
  std::vector<trace::GapRow> finish();

 private:
  enum class Role : std::uint8_t { unseen, ignored, synchronise, copy, device_wait, host };
  struct Evidence {
    std::int64_t overlap_ns = 0;  // with the time in which the host kept the device waiting
    std::int64_t start_ns = 0, end_ns = 0;
    trace::NameId name;
    void offer(std::int64_t overlap, const trace::ApiCallRow& row);
  };
  struct Candidate {
    Gap gap;
    Evidence synchronise, copy, device_wait, host;
  };
  struct Decision {
    Cause cause = Cause::unknown;
    double confidence = 0;
    const Evidence* evidence = nullptr;
    bool evidence_is_launch = false;
  };
  Role role_of(const trace::ApiCallRow& row);
  static Decision decide(const Candidate& candidate);
  static Decision decide_late(const Candidate& candidate);
  static Decision decide_queued(const Candidate& candidate);

  trace::NameTable& names_;
  std::map<std::uint64_t, Role> roles_;                                           // by domain and name
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Candidate>> gaps_;  // by rank, device
};

// Idle time by cause.
struct CauseSum {
  std::int64_t gap_count = 0;
  std::int64_t idle_ns = 0;
};
std::map<Cause, CauseSum> sum_by_cause(const std::vector<trace::GapRow>& gaps, const trace::NameTable& names);

}  // namespace aaco::analytics::gaps
