#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/bottleneck.h"
#include "analytics/node_time.h"
#include "analytics/signals.h"
#include "core/json.h"
#include "trace/names.h"

// What to do first: the gain is what a call would save if the part went away, computed from what was measured.
namespace aaco::analytics::advice {

inline constexpr double kMinGain = 0.01;  // what saves a smaller share is not recommended

struct Recommendation {
  std::string id;         // the class it is against
  std::string title;      // what to do
  std::string text;       // why, and what besides
  double gain_ratio = 0;  // of the latency; 0: not known
  double confidence = 0;
  double effort = 1;  // 1 a setting, 2 a change of the program, 3 another model or machine
  std::string basis;  // how the gain was computed, with its numbers
  [[nodiscard]] double worth() const { return gain_ratio * confidence / effort; }
};

// By gain x confidence / effort. Only what has a gain that can be computed, and a confidence that is more than a guess.
std::vector<Recommendation> recommend(const bottleneck::Bottleneck& bottleneck, const bottleneck::RuleBook& book,
                                      const signals::Signals& signals, const metrics::NodeTime& nodes,
                                      const trace::NameTable& names);

core::Json to_json(const std::vector<Recommendation>& recommendations);

}  // namespace aaco::analytics::advice
