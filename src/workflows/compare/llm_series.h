#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"

namespace aaco::workflows {

// Metric id ("llm.ttft_p50_ns") -> a value per complete request, in the order in which they were due: of the load level whose
// metrics the session states. Empty without such a table.
core::Result<std::map<std::string, std::vector<double>>> llm_series(const std::string& session_path);

}  // namespace aaco::workflows
