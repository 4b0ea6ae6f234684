#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/llm_ceiling.h"
#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct LlmSelfTestRequest {
  std::vector<std::string> server;  // program and verb that call serve_tokens(); the CPU to run on comes behind them
  std::int64_t streams = 1000;      // of the search for the ceiling
  std::int64_t idle_streams = 5000, idle_tokens_per_second = 10;  // of the measurement of memory
};

// What the load generator can do on this machine.
struct LlmSelfTestOutcome {
  std::optional<analytics::llm::CeilingStep> ceiling;  // empty: it keeps up with no rate
  std::vector<analytics::llm::CeilingStep> steps;
  bool server_limited = false;  // the built-in server was the limit: the ceiling is higher
  std::int64_t streams = 0;
  std::int64_t idle_streams = 0, idle_tokens_per_second = 0;
  std::int64_t idle_peak_bytes = 0;  // resident, of the client's process
  double idle_received_ratio = 0;    // of the planned tokens per second
  std::int64_t file_limit = 0;
  std::string file_limit_note;  // fewer streams than asked for, and why
  std::optional<int> client_cpu, server_cpu;
  std::string cpu_model, path;  // where it is stored
};

// Loads the built-in server, a process on another CPU, until the client no longer keeps up, and stores the ceiling in the user's
// registry. The calling thread stays on its CPU.
core::Result<LlmSelfTestOutcome> llm_self_test(const LlmSelfTestRequest& request, const Services& services);
core::Json to_json(const LlmSelfTestOutcome& outcome);
std::string render(const LlmSelfTestOutcome& outcome);

// The built-in server's process: see serving::run_token_server(). On this CPU, where the system allows it.
core::Status serve_tokens(std::optional<int> cpu, int control, int output);

}  // namespace aaco::workflows
