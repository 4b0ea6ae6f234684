#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

// How far a decode step is from what memory bandwidth allows, and whether that is what limits it.
namespace aaco::analytics::llm {

// What one decode step has to read, each byte once.
struct StepBytes {
  double weights = 0;  // constants that a step reads whole; of tables that are only looked up, the rows
  double cache = 0;    // keys and values of the context
};
// The graph's weights in a step of so many sequences; `bound`: every shape known. Constants below a KiB are not counted.
double weight_bytes_per_step(const graph::Graph& bound, std::int64_t batch);

// A rate of memory and where it is from.
struct Bandwidth {
  double bytes_per_s = 0;
  std::string source;
};

// A median time per token of so many sequences at once.
struct BatchPoint {
  std::int64_t batch = 1;
  double tpot_ns = 0;
};

struct DecodeEvidence {
  double tpot_ns = 0;
  std::int64_t batch = 1;
  StepBytes bytes;
  std::optional<Bandwidth> bandwidth;     // of the memory that holds the weights
  std::vector<BatchPoint> batches;        // the same context; one or none: no curve
  std::optional<double> memory_share;     // of the predicted decode time, in nodes limited by memory
  std::optional<double> runtime_ratio;    // of a step, inside the runtime's call
  std::optional<double> disturbed_ratio;  // of the generations, by external load
};

enum class DecodeLimit { unknown, bandwidth, partly, other };
std::string_view to_string(DecodeLimit limit);

// From this share of the bandwidth floor on a step counts as bandwidth-bound; below the second as limited by something else.
// Judgements: a copy loop itself reaches about 0.8 of a data sheet's rate.
inline constexpr double kBandwidthBound = 0.6;
inline constexpr double kBandwidthPartly = 0.3;
// From this share of disturbed generations on a time above the floor proves nothing.
inline constexpr double kMostlyDisturbed = 0.5;
// A batch whose time per token grows by less than this share of the batch's growth reuses what it reads.
inline constexpr double kSharedReads = 0.5;

struct DecodeVerdict {
  DecodeLimit limit = DecodeLimit::unknown;
  std::optional<double> weight_floor_ns, floor_ns;        // weights / bandwidth; with the cache
  std::optional<double> weight_floor_ratio, floor_ratio;  // of the measured time
  std::optional<double> batch_growth_ratio;  // growth of the time per growth of the batch: 0 shared, 1 each on its own
  std::string sentence;
  std::vector<std::string> evidence;
};
DecodeVerdict judge_decode(const DecodeEvidence& evidence);

}  // namespace aaco::analytics::llm
