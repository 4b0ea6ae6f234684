#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "estimation/analysis.h"

namespace aaco::report {

struct AnalysisReport;

// A prediction for one item, and for one token where it is known what one is. The intervals are those of the whole, divided: of a
// rate the interval of the time, of energy that of the energy.
struct Rates {
  estimation::Estimate items_per_s;
  std::optional<estimation::Estimate> joules_per_item;
  std::optional<estimation::Estimate> tokens_per_s, joules_per_token;
};

// `items`: of all `devices` together, each of which does as the report says at the same time.
Rates rates_of(const AnalysisReport& report, double items, double devices);
// Of the report's own items on one device.
Rates rates_of(const AnalysisReport& report);

// "1,234", "0.0036": three digits below a hundred, of a slow rate, too.
std::string rate_text(double per_second);

core::Json to_json(const Rates& rates);

}  // namespace aaco::report
