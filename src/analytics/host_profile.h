#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analytics/gap_causes.h"
#include "trace/names.h"
#include "trace/rows.h"

// What the main threads of a trace without device work did, by cause (data/gaps), in one pass and bounded memory.
namespace aaco::analytics::gaps {

struct HostWork {
  std::int64_t span_ns = 0;       // of the ranks' main threads, first start to last end of the trace, added up
  std::vector<HostShare> shares;  // of them by cause, the largest first; operators are `framework`
  std::int64_t operator_count = 0;
  std::int64_t operator_ns = 0;  // in operators and in named causes
  std::int64_t collective_count = 0;
  std::int64_t collective_ns = 0;  // while at least one collective ran, on any thread
  std::int64_t exposed_ns = 0;     // of that, while the main thread was in no operator
};

// The main thread of a rank is the one that was longest inside operators or frames.
class HostProfile {
 public:
  HostProfile(const CauseBook& book, const trace::NameTable& names);
  ~HostProfile();
  void add(const trace::ApiCallRow& row);  // in order of start
  HostWork finish();

 private:
  struct Known {
    bool seen = false, ignored = false, is_operator = false, is_collective = false;
    CauseIndex cause = 0;
  };
  struct Thread;
  struct Rank {
    std::int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    std::int64_t operator_count = 0, collective_count = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> collectives;  // the union, in order
  };
  const Known& known(const trace::ApiCallRow& row);

  const CauseBook& book_;
  const trace::NameTable& names_;
  std::map<std::uint64_t, Known> known_;  // by domain and name
  std::map<std::int32_t, Rank> ranks_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::unique_ptr<Thread>> threads_;  // by rank and thread
};

}  // namespace aaco::analytics::gaps
