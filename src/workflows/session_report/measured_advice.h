#pragma once

#include <map>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::workflows {

// What 'aaco optimize --advice' measured for the session's advice, by the advice's id: configuration, verdict, change_ratio,
// interval {low, high} and the session with the search; of several the latest.
core::Result<std::map<std::string, core::Json>> measured_advice(const std::string& sessions, const std::string& session_id);

// "measured here: threads=2 -12.0 % (-14.0 to -10.0 %), improvement".
std::string measured_sentence(const core::Json& measured);

// Adds "measured" to the recommendations that it covers.
core::Json with_measured(const core::Json& recommendations, const std::map<std::string, core::Json>& measured);
// Adds the sentence to the evidence of the advice that it covers.
void add_measured(report::ReportModel& model, const std::map<std::string, core::Json>& measured);

}  // namespace aaco::workflows
