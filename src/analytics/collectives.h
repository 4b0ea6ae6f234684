#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// Bandwidths of collective operations, and the waits of ranks in them. Formulas and the size S are those of nccl-tests
// (doc/PERFORMANCE.md): algorithm bandwidth = S / t, bus bandwidth = algorithm bandwidth x bus factor.
namespace aaco::analytics::collectives {

// Of an operation (as table collectives names it) over `ranks`: all_reduce 2 (n - 1) / n; reduce_scatter, all_gather, all_to_all
// and gather (n - 1) / n; broadcast, reduce, send, recv and send_recv 1. Empty: unknown operation, or a group of fewer than two
// where the factor depends on it.
std::optional<double> bus_factor(std::string_view operation, std::optional<std::int64_t> ranks);

// S of an operation from the bytes that one rank puts in: of all_gather and gather the gathered whole, else those bytes.
std::optional<std::int64_t> data_bytes(std::string_view operation, std::optional<std::int64_t> bytes,
                                       std::optional<std::int64_t> ranks);

// Whether no rank can leave the operation before the last one arrives.
bool synchronises(std::string_view operation);

// How a wait was found: by start times, where the ranks' intervals overlap as they do on one clock; else by durations, of which
// the shortest belongs to the rank that arrived last.
enum class WaitMethod : std::uint8_t { none, arrival, duration };
std::string_view to_string(WaitMethod method);

struct Call {
  trace::CollectiveRow row;
  std::int64_t instance = -1;  // the same for all ranks of one operation; -1: not matched
  std::int64_t rank_count = 1;
  std::optional<std::int64_t> data_bytes;
  std::optional<std::int64_t> wait_ns, transfer_ns;  // of this rank; since the last arrival
  WaitMethod method = WaitMethod::none;
  std::optional<double> algorithm_bytes_per_s, bus_bytes_per_s;  // over the transfer where it is known, else over the duration
};

// Every row once, in order of start. The k-th operation of one kind in one group is the same on all ranks if all ranks that have
// any have equally many, none has another size, and they are no more than the group. Names are those of `rows`.
std::vector<Call> match(std::span<const trace::CollectiveRow> rows, const trace::NameTable& names);

}  // namespace aaco::analytics::collectives
