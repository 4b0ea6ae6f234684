#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analytics/config_search.h"
#include "core/result.h"
#include "workflows/optimize_request.h"

namespace aaco::workflows {

// A value of an axis: the run options it sets.
struct AxisValue {
  std::string id;
  std::map<std::string, std::string> set;  // keys of set_run_option()
};

struct Axis {
  std::string id, explain;
  std::vector<AxisValue> values;    // the first is the baseline's and sets nothing
  std::vector<std::string> unless;  // "axis=value": values of this axis are not combined with it
  std::string reason_absent;        // why the axis has no other value here; empty if it has
};

// data/optimize/space.yaml, or another file of its schema, as it applies to this machine, model and objective.
struct Space {
  std::vector<Axis> axes;
  std::map<std::string, std::string> fixed;  // by --fix: axis -> value

  [[nodiscard]] std::vector<std::size_t> sizes() const;
  // The configurations to search, without the baseline; single changes first.
  [[nodiscard]] std::vector<analytics::configsearch::Configuration> candidates() const;
  // "threads=2 spinning=off"; "baseline" without a change.
  [[nodiscard]] std::string name(const analytics::configsearch::Configuration& configuration) const;
  [[nodiscard]] std::map<std::string, std::string> values(const analytics::configsearch::Configuration& configuration) const;
  // The run with the values of the configuration, on top of `base`.
  [[nodiscard]] core::Result<RunRequest> apply(const analytics::configsearch::Configuration& configuration,
                                               const RunRequest& base) const;
};

struct SpaceContext {
  std::string objective;  // latency, throughput, memory
  int cpus = 1;
  bool batch_is_free = false;                          // the model has a symbolic batch dimension
  std::set<std::string> idle_rewrites;                 // passes that find nothing to change in the model
  std::map<std::string, std::string> absent_backends;  // and why each cannot run here
};

core::Result<Space> load_space(const std::string& path, const SpaceContext& context);

// Searches only these axes.
void keep_axes(Space& space, const std::vector<std::string>& ids);

// Holds an axis at a value: candidates and baseline both have it. Fails with invalid_argument for an unknown axis or value.
core::Status fix_axis(Space& space, const std::string& axis, const std::string& value, RunRequest& base);

// Drops values that the baseline has already: --threads 1 leaves no threads=1 to search.
core::Status drop_unchanged(Space& space, const RunRequest& base);

}  // namespace aaco::workflows
