#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

// What changed first: the causal order seen in the timeline.
namespace aaco::analytics::rootcause {

// A block signal that changed compared with the other run.
struct Deviation {
  std::string signal;         // "caller.wait_ratio"
  std::int64_t since_ns = 0;  // from the start of the first block of B
  double before = 0;          // median of A's blocks
  double after = 0;           // median of B's blocks since then
  bool operator==(const Deviation&) const = default;
};

// Signals of B that from some block on are outside A's range for most of the remaining time, the earliest first; signals that
// change in the same block are ordered by size. Empty with fewer than 4 blocks on a side.
std::vector<Deviation> order_of_changes(std::span<const trace::LoopBlockRow> a, std::span<const trace::LoopBlockRow> b,
                                        const trace::NameTable& names_a, const trace::NameTable& names_b);

// The course of a gap: moments on the device's clock, relative to the start of the gap.
struct Moment {
  std::int64_t at_ns = 0;
  std::string what;
};
// The longest gap whose ending launch is known; empty if there is none.
std::vector<Moment> chain_of_longest(std::span<const trace::GapRow> gaps, const trace::NameTable& names);

core::Json to_json(const std::vector<Deviation>& order);
core::Json to_json(const std::vector<Moment>& chain);

}  // namespace aaco::analytics::rootcause
