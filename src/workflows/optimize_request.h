#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/agreement.h"
#include "core/units.h"
#include "workflows/run_request.h"

namespace aaco::workflows {

struct OptimizeRequest {
  RunRequest base;                    // the baseline
  std::string objective = "latency";  // latency, throughput, energy, memory
  core::Nanoseconds budget{600'000'000'000};
  analytics::agreement::Tolerance tolerance;
  std::optional<core::Nanoseconds> slo_p99;  // configurations whose P99 latency is above are out
  std::string space_file;                    // empty: data/optimize/space.yaml
  std::map<std::string, std::string> fixed;  // axis -> value
  double threshold_ratio = 0.01;             // smaller gains are not claimed
  std::string folder;                        // what is left behind; a search that was interrupted here is resumed
  std::vector<std::string> worker;           // program and verb that call serve_ab()
  std::string tag;
  bool store = true;
  std::string system_root = "/";          // where /sys is, for energy counters
  std::vector<std::string> axes;          // search only these; empty: all
  std::string advice_session, advice_id;  // whose advice this tries; kept in the session
  bool accept = false;                    // a change of precision may win although it was compared on generated inputs only
  std::int64_t check_inputs = 32;         // generated inputs that outputs are compared on
};

}  // namespace aaco::workflows
