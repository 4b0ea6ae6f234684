#pragma once

#include <string>
#include <vector>

#include "analytics/anomaly.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct Explanation {
  std::string session_id;
  core::Json bottleneck;                               // metrics/bottleneck.json's content, judged anew; null: nothing can tell
  std::vector<std::string> causes;                     // of a measured server: what moved its figures
  std::string load;                                    // of a measured server: the summary of its load; no bottleneck then
  std::vector<analytics::anomaly::Anomaly> anomalies;  // in the session, then against earlier ones of the same fingerprint
  std::int64_t compared_with = 0;                      // earlier sessions
};

// Why a session is as fast as it is, and its anomalies.
core::Result<Explanation> explain(const std::string& session, const Services& services);
core::Json to_json(const Explanation& explanation);

}  // namespace aaco::workflows
