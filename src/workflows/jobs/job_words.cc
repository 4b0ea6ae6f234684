#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/jobs.h"
#include "workflows/jobs/plain_name.h"
#include "workflows/session_list.h"
#include "workflows/uploads.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using Words = std::vector<std::string>;

constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kPolicyHint = "add the verb to verbs of configs/server.yaml";

core::Result<Words> invalid_value(const JobOption& option, std::string_view expected) {
  return core::fail(ErrorCode::invalid_argument,
                    "invalid value for '" + std::string(option.name) + "': expected " + std::string(expected));
}

// The real path where it is below one of the folders, links followed.
core::Result<std::string> allowed_file(const std::string& path, const Words& folders) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path real = path.starts_with('/') ? fs::canonical(path, problem) : fs::path();
  for (const std::string& folder : folders) {
    std::error_code missing;
    const fs::path root = fs::canonical(folder, missing);
    if (problem || missing || real.empty()) continue;
    if (std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end()) return real.string();
  }
  return core::fail(ErrorCode::permission, "this file is not below a folder that clients may import from",
                    "add the folder to import_folders of configs/server.yaml");
}

core::Result<Words> sessions_of(const JobOption& option, const std::string& text, const core::Paths& paths) {
  std::string side;
  for (const std::string_view part : core::split(text, ',')) {
    const std::string word(core::trim(part));
    if (!is_plain_name(word)) return invalid_value(option, "sessions: an id, latest or tag:NAME");
    AACO_ASSIGN(const std::string path, find_in_lake(word, paths));
    side += (side.empty() ? "" : ",") + (word.starts_with("tag:") ? word : core::base_name(path));
  }
  return Words{side};
}

core::Result<Words> checked_value(const JobOption& option, const std::string& value, const ServerPolicy& policy,
                                  const core::Paths& paths) {
  const bool printable = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!printable || value.size() > kMaxText) return invalid_value(option, "text without control characters");
  switch (option.value) {
    case JobValue::name:
      if (!is_plain_name(value)) return invalid_value(option, "a name");
      return Words{value};
    case JobValue::whole: {
      const auto number = core::parse_i64(value);
      if (!number || *number < option.low || *number > option.high)
        return invalid_value(option, "an integer between " + std::to_string(option.low) + " and " + std::to_string(option.high));
      return Words{std::to_string(*number)};
    }
    case JobValue::ratio: {
      const auto ratio = core::parse_ratio(value);
      if (!ratio || !(*ratio > 0) || *ratio >= 1) return invalid_value(option, "a ratio such as 5%");
      return Words{value};
    }
    case JobValue::time: {
      const auto time = core::parse_duration_ns(value);
      if (!time || *time <= 0) return invalid_value(option, "a duration such as 10s");
      return Words{value};
    }
    case JobValue::flag: return value == "true" ? Words{""} : value == "false" ? Words{} : invalid_value(option, "true or false");
    case JobValue::session: return sessions_of(option, value, paths);
    case JobValue::program:
      if (std::find(policy.record_programs.begin(), policy.record_programs.end(), value) == policy.record_programs.end())
        return core::fail(ErrorCode::permission, "clients may not start this program",
                          "add its absolute path to record_programs of configs/server.yaml");
      return Words{value};
    case JobValue::text: return Words{value};
    case JobValue::file: {
      AACO_ASSIGN(std::string real, allowed_file(value, policy.import_folders));
      return Words{std::move(real)};
    }
    case JobValue::upload: {
      AACO_ASSIGN(std::string file, uploads_of(paths.sessions).find(value));
      return Words{std::move(file)};
    }
    case JobValue::url:
      if (std::none_of(policy.llm_servers.begin(), policy.llm_servers.end(),
                       [&](const auto& prefix) { return !prefix.empty() && value.starts_with(prefix); }))
        return core::fail(ErrorCode::permission, "clients may not measure this server",
                          "add its URL to llm_servers of configs/server.yaml");
      return Words{value};
  }
  return Words{};
}

}  // namespace

core::Result<Words> job_words(const JobVerb& verb, const JobFields& fields, const ServerPolicy& policy,
                              const core::Paths& paths) {
  if (std::find(policy.verbs.begin(), policy.verbs.end(), verb.name) == policy.verbs.end())
    return core::fail(ErrorCode::permission, "jobs of '" + std::string(verb.name) + "' are disabled", std::string(kPolicyHint));
  for (const auto& [name, value] : fields)
    if (std::none_of(verb.options.begin(), verb.options.end(), [&name = name](const auto& one) { return one.name == name; }))
      return core::fail(ErrorCode::invalid_argument, "unknown parameter '" + name + "'");
  Words words{std::string(verb.name), "--json"};
  words.insert(words.end(), verb.fixed.begin(), verb.fixed.end());
  char side = 0;
  std::size_t inputs = 0;
  for (const JobOption& option : verb.options) {
    if (option.side != side) words.emplace_back("--");
    side = option.side;
    std::size_t given = 0;
    for (const auto& [name, text] : fields) {
      if (name != option.name) continue;
      if (++given > 1 && !option.repeatable) return core::fail(ErrorCode::invalid_argument, "repeated parameter '" + name + "'");
      AACO_ASSIGN(const Words values, checked_value(option, text, policy, paths));
      for (const std::string& value : values)
        words.push_back(option.argument.empty() ? value : std::string(option.argument) + (value.empty() ? "" : "=" + value));
    }
    if (option.value == JobValue::file || option.value == JobValue::upload) inputs += given;
    if (given == 0 && option.required)
      return core::fail(ErrorCode::invalid_argument, "missing parameter '" + std::string(option.name) + "'");
  }
  if (verb.name == "import" && inputs == 0)
    return core::fail(core::ErrorCode::invalid_argument, "missing parameter 'path' or 'upload'",
                      "send a file with POST /api/v1/uploads?name=FILE and name its id as 'upload'");
  return words;
}

}  // namespace aaco::workflows
