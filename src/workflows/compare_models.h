#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "report/paper.h"
#include "report/rates.h"
#include "workflows/analyze.h"

namespace aaco::workflows {

// Models on devices under every combination of conditions, ranked by what one wants most.
struct CompareModelsRequest {
  std::vector<std::string> models, hardware;
  AnalyzeRequest base;
  std::vector<std::int64_t> batches;  // empty: as base says
  std::vector<std::string> dtypes;
  std::vector<double> power_caps;
  std::vector<std::int64_t> device_counts;  // the batch is split over so many; empty: one
  enum class Rank { latency, throughput, energy, memory } rank = Rank::latency;
};

struct ComparedPoint {
  std::string model, hardware;
  std::int64_t batch = 1;  // of all devices together
  std::int64_t devices = 1;
  std::string dtype;
  std::optional<double> power_cap_watts;
  core::ErrorCode error_code = core::ErrorCode::not_found;
  std::string error;                                 // why there is no prediction
  std::optional<report::AnalysisReport> prediction;  // of one device's share
  std::optional<report::Rates> rates;                // of all devices together
  bool fits = true;                                  // in the device's memory, as far as both are known
};

// Points that have no prediction come last; what was asked for twice is told once. Fails where none has one, and for wrong
// requests.
core::Result<std::vector<ComparedPoint>> compare_models(const CompareModelsRequest& request, const Services& services);

// One row a point, plain numbers; what there is not is an empty cell (docs/formats/predictions.md).
report::PaperTable comparison_table(const std::vector<ComparedPoint>& points);
report::Paper comparison_paper(const std::vector<ComparedPoint>& points, const CompareModelsRequest& request);
core::Json comparison_json(const std::vector<ComparedPoint>& points, const CompareModelsRequest& request);

}  // namespace aaco::workflows
