#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors::smi {

struct Options {
  // Where amd-smi and rocm-smi are looked for. Empty: the environment's PATH on this machine itself, nowhere on another root.
  std::optional<std::string> path_variable;
  std::int64_t period_ns = 1'000'000'000;    // from the start of one reading to the next; at least a second
  std::int64_t timeout_ns = 10'000'000'000;  // then the tool is killed and the reading counted as lost
};

// Telemetry of AMD GPUs by AMD's own command-line tools, for what sysfs does not tell here (a container without /sys/class/drm, a
// driver without hwmon): only those quantities are asked for and kept. The tool runs beside the sampling; sample() starts it,
// takes what has come and never waits. A reading is stamped in the middle between the tool's start and its end.
std::unique_ptr<Collector> make_collector(Options options = {},
                                          std::unique_ptr<core::Clock> clock = std::make_unique<core::SystemClock>());

// The quantities that sysfs below `root` gives for every AMD GPU, of those the tools know. Without any GPU: none.
std::vector<std::string> quantities_of_sysfs(const SysRoot& root);

}  // namespace aaco::collectors::smi
