#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "governance/baseline.h"
#include "workflows/baseline_side.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Where baselines lie: AACO_BASELINES, or ./baselines; best under version control.
std::string baseline_folder(const Services& services);

struct BaselineRequest {
  std::string name, owner, reason;
  std::vector<std::string> sessions;  // ids, paths, latest, tag:NAME
  std::vector<std::string>
      metrics;               // "p50", "p99=10%", the first decides; empty: p50, mean, throughput, memory as far as measured
  double loss_ratio = 0.05;  // budget of those that name none
  std::optional<std::int64_t> lifetime_ns;  // from now
  bool replace = false;
};

// Writes NAME.yaml of sessions of one kind and answers its path. Fails with conflict where the name is taken, with invalid_input
// on sessions that differ in what must be equal, and with invalid_argument on a metric they did not measure.
core::Result<std::string> add_baseline(const BaselineRequest& request, const Services& services);

// A name in the folder, or a file. Fails with not_found, naming the nearest.
core::Result<std::string> find_baseline(const std::string& name, const Services& services);

struct BaselineEntry {
  std::string path;
  core::Result<governance::Baseline> baseline;
};
core::Result<std::vector<BaselineEntry>> list_baselines(const Services& services);

// Writes down who agrees to the baseline as it is now.
core::Status approve_baseline(const std::string& path, const std::string& by);

core::Json to_json(const governance::Baseline& baseline, std::int64_t now_realtime_ns);

}  // namespace aaco::workflows
