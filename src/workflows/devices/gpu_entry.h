#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hardware/device.h"
#include "laboratory/benchmarks.h"
#include "workflows/hardware.h"

namespace aaco::workflows {

// What was measured, in operations and bytes a second.
struct GpuReadings {
  std::map<std::string, double> products, lanes;  // by type: of the library's products, of own multiply-adds
  std::optional<double> copy, read, cache, from_host;
  std::vector<std::string> notes;  // what could not be measured, and why
};

// The registry entry: facts of the runtime, figures of the measurement, each with its source.
hardware::Device entry_of(const laboratory::GpuFacts& facts, const GpuReadings& readings, const std::string& runtime,
                          const std::string& date);
// For people: each measured figure, the published one, and their ratio.
std::vector<std::string> beside_published(const hardware::Device& measured, const hardware::Device& published);

// Writes the outcome's device to the user's registry, unless it is a dry run.
core::Result<ProbeOutcome> write_entry(ProbeOutcome outcome, bool dry_run, const Services& services);

}  // namespace aaco::workflows
