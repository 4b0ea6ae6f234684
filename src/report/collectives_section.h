#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// Collective operations of a trace: bandwidths, and the waits of ranks in them.
struct Collectives {
  // All of one operation over groups of one size.
  struct Kind {
    std::string operation;
    std::optional<std::int64_t> group_size;
    std::int64_t count = 0, time_ns = 0;
    std::optional<std::int64_t> wait_ns, data_bytes;               // of all
    std::optional<double> algorithm_bytes_per_s, bus_bytes_per_s;  // over all, weighted by time
    std::optional<double> bus_factor;
    std::string time_method;  // transfer, duration, mixed; empty: no bandwidth
  };
  // One rank's part in one operation.
  struct Rank {
    std::int64_t rank = 0;
    std::string operation;
    std::int64_t count = 0, time_ns = 0;
    std::int64_t wait_ns = 0;
    std::int64_t last_count = 0;  // operations that waited for this rank
  };
  // One operation over all its ranks.
  struct Call {
    std::int64_t instance = 0;
    std::string operation, group;
    std::int64_t start_ns = 0;  // the first arrival, on the session's home clock
    std::int64_t rank_count = 0;
    std::optional<std::int64_t> group_size, data_bytes;
    std::int64_t longest_wait_ns = 0, wait_sum_ns = 0;
    std::int64_t last_rank = 0;  // whom the others waited for
    std::string wait_method;
  };
  std::int64_t call_count = 0;     // one per rank and operation
  std::int64_t matched_count = 0;  // of these, matched between ranks
  std::vector<Kind> kinds;         // longest time first
  std::vector<Rank> ranks;         // by rank, then longest wait first; empty: nothing matched
  std::vector<Call> worst;         // largest sum of waits first
};

core::Json to_json(const Collectives& section);
void write_text(TextPage& page, const Collectives& section, const ReportModel& model);

}  // namespace aaco::report
