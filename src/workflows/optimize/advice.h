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

// Whether the configuration ("precision=float16 threads=2") changes what the advice is about: with "precision" first among its
// axes that is fewer bits, where the search had them (`space`: "space" of result.json); otherwise any of its axes.
bool is_as_advised(const core::Json& space, const std::vector<std::string>& axes, const std::string& configuration);

// The run that a session's request describes.
core::Result<RunRequest> run_of_session(const core::Json& request);

}  // namespace aaco::workflows
