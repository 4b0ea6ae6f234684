#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "graph/fuse.h"
#include "graph/load.h"
#include "hardware/device.h"
#include "report/analysis.h"

namespace aaco::workflows {

struct Fallback;

// The prediction for a model that is open already, with the calibrations that the registry has for the device. `asked`: its dtype
// as people write it. `fallback`: runs what the device does not take; null: it takes everything.
core::Result<report::AnalysisReport> predict(const graph::Model& model, const std::string& name, const hardware::Device& device,
                                             const estimation::Conditions& asked, const core::Paths& paths,
                                             const Fallback* fallback = nullptr);

// What the registry has for such a device: its own calibration, else those of all others, which interpolation needs. Nothing
// where only theoretical estimates are asked for.
core::Result<estimation::CalibrationSet> calibrations_for(const hardware::Device& device,
                                                          const estimation::Conditions& conditions, const core::Paths& paths);

// How the graph's nodes become kernels on such a device: the patterns of its usual runtime (data/fusion).
core::Result<graph::Fusion> usual_fusion(const graph::Graph& graph, const hardware::Device& device, const core::Paths& paths);

}  // namespace aaco::workflows
