#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/optimize.h"

namespace aaco::workflows {

// data/optimize/advice.yaml: id of the advice -> axes that try it.
core::Result<std::map<std::string, std::vector<std::string>>> load_advice_axes(const std::string& path);

// The items to try of explain's recommendations, with the prediction of each and no measurement. Pure.
std::vector<AdviceTrial> advice_trials(const core::Json& recommendations,
                                       const std::map<std::string, std::vector<std::string>>& axes);

// The run that a session's request describes.
core::Result<RunRequest> run_of_session(const core::Json& request);

}  // namespace aaco::workflows
