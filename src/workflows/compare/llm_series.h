#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"

namespace aaco::workflows {

// Of the load level whose metrics a session states. Empty without such a table.
struct LlmSeries {
  // Metric id ("llm.ttft_p50_ns") -> a value per complete request that has one, in the order in which they were due.
  std::map<std::string, std::vector<double>> values;
  std::int64_t responses = 0, in_one_piece = 0;  // complete ones; those of several chunks in one read, whose TPOT is unknown
};
core::Result<LlmSeries> llm_series(const std::string& session_path);

}  // namespace aaco::workflows
