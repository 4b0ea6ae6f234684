#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "estimation/partitioned.h"
#include "graph/support.h"
#include "hardware/device.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What runs what the device does not take, and who says what it takes.
struct Fallback {
  hardware::Device device;
  graph::BackendSupport support;
};

// `provider`: a file of data/support without its ending; empty: the one that names the device. Fails with not_found where there
// is none, naming those there are.
core::Result<Fallback> find_fallback(const std::string& name, const std::string& provider, const hardware::Device& device,
                                     const Services& services);

// The graph over the device and its fallback. Fails as estimation::analyze() does where a share cannot be computed.
core::Result<estimation::GraphEstimate> analyze_parts(const graph::Graph& graph, const hardware::Device& device,
                                                      const Fallback& fallback, const estimation::Conditions& conditions,
                                                      const core::Paths& paths, estimation::PartitionReport& report);

}  // namespace aaco::workflows
