#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/result.h"
#include "serving/client.h"
#include "workflows/llm/plan.h"

namespace aaco::workflows {

// The name of the first model that the server lists at /models, which gets at most 10 s. Fails with what to do where it lists
// none.
core::Result<std::string> first_model(const serving::Client& client, const serving::Target& target, std::int64_t timeout_ns);

struct Probed {
  bool no_length_control = false;  // the server does not know it: it is switched off in the plan
  bool no_usage_option = false;    // nor stream_options
  bool completion_limit = false;   // it wants max_completion_tokens instead of max_tokens
  bool counts_tokens = false;      // the answer had a usage
};
// Sends one request and says whether the server answers it as this API does.
core::Result<Probed> probe(serving::Client& client, LlmPlan& plan);

// The process on this machine that listens on the server's port; empty where the server is elsewhere, or cannot be seen.
std::optional<std::int64_t> server_process(const serving::Target& target, const std::string& proc = "/proc");

}  // namespace aaco::workflows
