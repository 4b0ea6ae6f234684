#include "workflows/server_policy.h"

#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "core/yaml.h"
#include "workflows/jobs.h"

namespace aaco::workflows {
namespace {

using core::Json;
using core::YamlNode;

constexpr std::int64_t kMaxPolicyCount = 100'000;

core::Status read_texts(const YamlNode& root, std::string_view key, std::vector<std::string>& into) {
  const YamlNode* node = root.find(key);
  if (node == nullptr) return {};
  AACO_ASSIGN(into, node->as_strings());
  return {};
}

core::Status read_absolute(const YamlNode& root, std::string_view key, std::vector<std::string>& into) {
  AACO_TRY(read_texts(root, key, into));
  for (const std::string& path : into)
    if (!path.starts_with('/')) return root.find(key)->error("'" + path + "' is not an absolute path");
  return {};
}

core::Status read_count(const YamlNode& root, std::string_view key, std::size_t& into) {
  AACO_ASSIGN(const auto number, root.optional_i64(key));
  if (!number) return {};
  if (*number < 1 || *number > kMaxPolicyCount)
    return root.find(key)->error(std::string(key) + " must be between 1 and " + std::to_string(kMaxPolicyCount));
  into = static_cast<std::size_t>(*number);
  return {};
}

core::Status read_size(const YamlNode& root, std::string_view key, std::int64_t& into) {
  AACO_ASSIGN(const auto text, root.optional_string(key));
  if (!text) return {};
  const auto bytes = core::parse_bytes(*text);
  if (!bytes || *bytes < 1) return root.find(key)->error(std::string(key) + " is not a size such as 64MiB");
  into = *bytes;
  return {};
}

}  // namespace

core::Result<ServerPolicy> load_server_policy(const std::string& file, const core::Paths& paths) {
  const std::string own = core::join_path(paths.config, "server.yaml");
  const std::string path = !file.empty() ? file : core::exists(own) ? own : core::join_path(paths.share, "configs/server.yaml");
  AACO_ASSIGN(const YamlNode root, YamlNode::load(path));
  if (!root.is_mapping()) return root.error("expected a mapping");
  AACO_TRY(root.only_keys({"verbs", "record_programs", "import_folders", "llm_servers", "other_jobs", "waiting_jobs",
                           "jobs_per_minute", "kept_jobs", "max_log", "max_result", "max_upload", "max_uploads"}));
  ServerPolicy policy;
  AACO_TRY(read_texts(root, "verbs", policy.verbs));
  for (const std::string& verb : policy.verbs)
    if (std::none_of(job_verbs().begin(), job_verbs().end(), [&](const JobVerb& one) { return one.name == verb; }))
      return root.find("verbs")->error("no job has the verb '" + verb + "'");
  AACO_TRY(read_absolute(root, "record_programs", policy.record_programs));
  AACO_TRY(read_absolute(root, "import_folders", policy.import_folders));
  AACO_TRY(read_texts(root, "llm_servers", policy.llm_servers));
  AACO_TRY(read_count(root, "other_jobs", policy.other_jobs));
  AACO_TRY(read_count(root, "waiting_jobs", policy.waiting_jobs));
  AACO_TRY(read_count(root, "jobs_per_minute", policy.jobs_per_minute));
  AACO_TRY(read_count(root, "kept_jobs", policy.kept_jobs));
  AACO_TRY(read_size(root, "max_log", policy.max_log_bytes));
  AACO_TRY(read_size(root, "max_result", policy.max_result_bytes));
  AACO_TRY(read_size(root, "max_upload", policy.max_upload_bytes));
  AACO_TRY(read_count(root, "max_uploads", policy.max_uploads));
  return policy;
}

Json to_json(const ServerPolicy& policy) {
  return Json::object({{"verbs", Json::texts(policy.verbs)},
                       {"record_programs", Json::texts(policy.record_programs)},
                       {"import_folders", Json::texts(policy.import_folders)},
                       {"llm_servers", Json::texts(policy.llm_servers)},
                       {"other_jobs", policy.other_jobs},
                       {"waiting_jobs", policy.waiting_jobs},
                       {"jobs_per_minute", policy.jobs_per_minute},
                       {"kept_jobs", policy.kept_jobs},
                       {"max_log_bytes", policy.max_log_bytes},
                       {"max_result_bytes", policy.max_result_bytes},
                       {"max_upload_bytes", policy.max_upload_bytes},
                       {"max_uploads", policy.max_uploads}});
}

}  // namespace aaco::workflows
