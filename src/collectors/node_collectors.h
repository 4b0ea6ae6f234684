#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "collectors/collector.h"
#include "core/clock.h"

namespace aaco::collectors {

// The cheap collectors for watching a node for months, not yet opened: machine, AMD and NVIDIA devices. Each gets a clock of its
// own from `make_clock`.
std::vector<std::unique_ptr<Collector>> node_collectors(const std::function<std::unique_ptr<core::Clock>()>& make_clock);

}  // namespace aaco::collectors
