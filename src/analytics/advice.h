#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/bottleneck.h"
#include "analytics/node_time.h"
#include "analytics/signals.h"
#include "core/json.h"
#include "trace/names.h"

// Recommendations: the gain is what a call would save without the bottleneck, computed from measurements.
namespace aaco::analytics::advice {

inline constexpr double kMinGain = 0.01;  // smaller gains are not recommended

struct Recommendation {
  std::string id;               // the bottleneck class addressed
  std::string title;            // what to do
  std::string text;             // reason and alternatives
  double gain_ratio = 0;        // of `gain_of`, at most: if all of it is saved; 0: unknown
  double confidence = 0;        // probability that following it saves this much
  double effort = 1;            // 1 a setting, 2 a change of the program, 3 another model or machine
  std::string basis;            // how the gain was computed, with its numbers
  std::string command = {};     // to try it; empty: none is known
  double least_gain_ratio = 0;  // what it saves at least: the interval is from here to gain_ratio
  std::string gain_of = "the latency";
  double cost_ratio = 0;               // of `gain_of`, what the advice is about where its gain is unknown
  [[nodiscard]] double worth() const;  // expected_gain() of the above
  [[nodiscard]] double rank() const { return gain_ratio > 0 ? worth() : confidence * cost_ratio; }
};

// Of `gain_of`: all of it with the probability `confidence`, otherwise what it saves at least.
inline double expected_gain(double least, double most, double confidence) { return least + confidence * (most - least); }
inline double Recommendation::worth() const { return expected_gain(least_gain_ratio, gain_ratio, confidence); }

inline constexpr std::size_t kMaxRecommendations = 4;
// The kMaxRecommendations of largest rank(), largest first.
void keep_best(std::vector<Recommendation>& list);

// What the processor of the session can do.
struct Processor {
  bool byte_dot_products = false;  // of vectors: AVX-VNNI, AVX-512 VNNI, AMX-INT8, Arm's dot product or I8MM
};

// Sorted by expected saving. Only recommendations with a computable gain and sufficient confidence.
std::vector<Recommendation> recommend(const bottleneck::Bottleneck& bottleneck, const bottleneck::RuleBook& book,
                                      const signals::Signals& signals, const metrics::NodeTime& nodes,
                                      const trace::NameTable& names, const Processor& processor = {});

core::Json to_json(const std::vector<Recommendation>& recommendations);

}  // namespace aaco::analytics::advice
