#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"

namespace aaco::workflows {

// What clients of the server may start: configs/server.yaml, which describes each member.
struct ServerPolicy {
  std::vector<std::string> verbs;
  std::vector<std::string> record_programs;
  std::vector<std::string> import_folders;
  std::vector<std::string> llm_servers;
  std::size_t other_jobs = 2;
  std::size_t waiting_jobs = 32;
  std::size_t jobs_per_minute = 60;
  std::size_t kept_jobs = 1000;
  std::int64_t max_log_bytes = 1 << 20;
  std::int64_t max_result_bytes = 64 << 20;
  std::int64_t max_upload_bytes = std::int64_t{1} << 30;
  std::size_t max_uploads = 16;
};

// `file` empty: the user's server.yaml, or the one that came with the program.
core::Result<ServerPolicy> load_server_policy(const std::string& file, const core::Paths& paths);
core::Json to_json(const ServerPolicy& policy);

}  // namespace aaco::workflows
