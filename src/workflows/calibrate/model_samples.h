#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/models.h"
#include "hardware/registry.h"
#include "workflows/measurement_files.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Measured models ready to be fitted: what ran more than once under one condition stands once, with the median of its times.
struct PlacedRun {
  std::string family;  // fitted together: "transformer fp32", "onnxruntime network fp32"
  bool eager = true;   // by a framework, kernel by kernel
  estimation::ModelSample sample;
  estimation::ModelEstimate theoretical;  // by specifications alone
  std::string where;                      // of its first row
};
struct PlacedRuns {
  std::vector<PlacedRun> runs;
  std::int64_t merged = 0;                     // rows that stand with others
  std::int64_t impossible = 0;                 // rows left out: no device of these peaks is so fast
  std::string first_impossible;                // where the first of them stands
  std::vector<PlacedRun> memory;               // the same of peak memory in bytes, where it was measured
  std::vector<PlacedRun> without;              // that have no terms
  std::map<std::string, std::int64_t> absent;  // why -> how many
  [[nodiscard]] std::vector<std::string> notes() const;
};

// The graph of each model: transformers by data/architectures, others as the zoo builds them, unfused as an eager framework runs
// them, or fused as the runtime that the row names does. What is held out together is a model, of a runtime's rows a family of
// models (all ResNets). A model that nobody knows has none, and is counted.
core::Result<PlacedRuns> place_models(const std::vector<ModelRun>& runs, const hardware::Device& device,
                                      const Services& services);

enum class Lent { transformers, all };

// Models of the other devices in the files that are of the same kind and maker, and run the same libraries; only `lenders`
// where there are any.
core::Result<std::vector<PlacedRun>> related_runs(const MeasurementFiles& files, const hardware::Device& device,
                                                  const hardware::DeviceRegistry& registry,
                                                  const std::vector<std::string>& lenders, Lent lent, const Services& services);

}  // namespace aaco::workflows
