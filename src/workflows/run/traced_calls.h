#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analytics/call_join.h"
#include "trace/clock_graph.h"
#include "trace/sink.h"
#include "workflows/run/hooked_arguments.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A first reading of a profiler's trace: its runtime calls and kernels, of which only what the join needs is kept.
class TracedCalls final : public trace::EveryRowTo<TracedCalls> {
 public:
  static constexpr std::size_t kMaxCalls = 10'000'000, kMaxKernels = 10'000'000;  // about 1 GB together
  struct Launch {
    std::int32_t rank = 0;
    std::uint64_t correlation_id = 0;
    std::int64_t start_ns = 0;
    std::uint64_t index = 0;  // of the call among those of the trace
  };
  struct Kernel {
    std::int32_t rank = 0;
    std::int64_t device = 0, stream = 0;
    std::uint32_t name = 0;  // short form
    std::uint64_t correlation_id = 0;
    std::int64_t start_ns = 0;
  };

  explicit TracedCalls(trace::NameTable& names) : names_(names), texts_(names) {}
  using EveryRowTo::add;
  void add(const trace::ApiCallRow& row) override;
  void add(const trace::KernelRow& row) override;
  template <class Row>
  void take(const Row&) {}
  trace::NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }
  [[nodiscard]] trace::ProcessBook* processes() override { return nullptr; }

  // Sorts; once, after reading.
  void seal();
  // Launches of the id, the earliest first; a runtime and a driver may share one.
  [[nodiscard]] std::pair<const Launch*, const Launch*> find(std::int32_t rank, std::uint64_t correlation_id) const;

  std::vector<analytics::call_join::Call> calls;  // of functions that the hooks record; id: index among the trace's calls
  std::vector<Launch> launches;                   // all calls with a correlation id
  std::vector<Kernel> kernels;                    // by their order in the trace
  std::map<std::int32_t, std::set<std::int64_t>> processes_of;  // by rank
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;       // of calls and kernels
  std::int64_t rounding_ns = 1000;                              // of the times of calls
  bool full = false;

 private:
  // The name of the recorded function; 0: none.
  std::uint32_t function_of(trace::NameId name);

  trace::NameTable& names_;
  HookedTexts texts_;
  std::unordered_map<std::uint32_t, std::uint32_t> functions_;    // by the trace's name
  std::unordered_map<std::uint32_t, std::uint32_t> short_names_;  // of kernels
  std::uint64_t count_ = 0;                                       // of calls with a correlation id
};

// Which hooked call each kernel of the trace belongs to.
struct TraceJoin {
  using Reason = analytics::call_join::Reason;
  std::int64_t shift_ns = 0;     // from the trace's clock to the session's
  std::string clock;             // the trace's; empty: unknown
  bool has_clock = false;        // the calls (or, without any, the kernels' times) fit at that shift
  std::uint64_t first_free = 1;  // correlation ids of calls that the hooks do not have are moved behind theirs
  std::int32_t first_free_rank = 0;
  std::map<std::int32_t, std::int32_t> ranks;               // of the trace to those of the hooks
  std::unordered_map<std::uint64_t, std::uint64_t> hooked;  // by the call's index: correlation id of the hooked call
  std::unordered_map<std::uint64_t, Reason> apart;          // calls that were not joined
  // By the call's index, of those that only the trace has: correlation id of the hooked driver call that lies inside. A runtime
  // that is linked statically is seen by profilers and not by the hooks.
  std::unordered_map<std::uint64_t, std::uint64_t> inner;
  std::unordered_map<std::uint64_t, std::uint64_t> ordered;  // by the kernel's index, joined without calls of the trace
  std::unordered_map<std::uint64_t, Reason> disordered;
  std::size_t samples = 0, inside = 0;  // how well the clock fits
  bool several = false;
};

// Reads the hooked calls of a flushed bundle and joins the trace's to them. `base_ns`: what the trace's times may be relative to,
// by the wall clock.
core::Result<TraceJoin> join_traced_calls(const std::string& session_path, const TracedCalls& traced, trace::NameTable& names,
                                          const trace::ClockGraph& clocks, std::optional<std::int64_t> base_ns,
                                          const Services& services);

}  // namespace aaco::workflows
