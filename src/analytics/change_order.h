#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

// What changed first: the causal order that the timeline itself shows.
namespace aaco::analytics::rootcause {

// A signal of the blocks of a run that left what it was in the other run.
struct Deviation {
  std::string signal;         // "caller.wait_ratio"
  std::int64_t since_ns = 0;  // from the start of the first block of B
  double before = 0;          // median of A's blocks
  double after = 0;           // median of B's blocks from there on
  bool operator==(const Deviation&) const = default;
};

// Signals of B's blocks that from some block on lie beyond A's scatter, most of the time to the end, the earliest first; what
// starts in the same block is in order of how far it left. Nothing with fewer than 4 blocks on a side.
std::vector<Deviation> order_of_changes(std::span<const trace::LoopBlockRow> a, std::span<const trace::LoopBlockRow> b,
                                        const trace::NameTable& names_a, const trace::NameTable& names_b);

// How a gap came about, from its own times: each moment on the device's clock, the gap's beginning being 0.
struct Moment {
  std::int64_t at_ns = 0;
  std::string what;
};
// The longest gap of which the launch that ended it is known; empty where there is none.
std::vector<Moment> chain_of_longest(std::span<const trace::GapRow> gaps, const trace::NameTable& names);

core::Json to_json(const std::vector<Deviation>& order);
core::Json to_json(const std::vector<Moment>& chain);

}  // namespace aaco::analytics::rootcause
