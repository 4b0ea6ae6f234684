#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analytics/anomaly.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct Explanation {
  std::string session_id;
  core::Json bottleneck;  // metrics/bottleneck.json's content, judged anew, or what the report says of a recording; null: nothing
                          // can tell
  std::vector<std::string> causes;                     // of a measured server: what moved its figures
  std::vector<std::string> remedies;                   // of these causes, each once
  std::string load;                                    // of a measured server: the summary of its load; no bottleneck then
  std::vector<std::string> slow_tokens;                // of a measured server: by level, what they waited for
  std::int64_t levels = 0;                             // of the load
  std::string observed;                                // the recording of the server's machine that they were joined with
  std::vector<analytics::anomaly::Anomaly> anomalies;  // in the session, then against earlier ones of the same fingerprint
  std::int64_t compared_with = 0;                      // earlier sessions
};

// Why a session is as fast as it is, and its anomalies. `observe`: a recording of the server's machine during the session's load;
// empty: none.
core::Result<Explanation> explain(const std::string& session, const Services& services, const std::string& observe = {});
core::Json to_json(const Explanation& explanation);

// What a bottleneck's cause is introduced by: "Cause", "Cause unknown", or "Largest avoidable part" of idle time beside kernels
// that take most of the span.
std::string_view cause_label(std::string_view class_id, const core::Json& cause);
// What its share is of: "the trace" or "the steps".
std::string_view share_of(const core::Json& cause);

}  // namespace aaco::workflows
