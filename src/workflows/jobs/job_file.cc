#include "workflows/jobs/job_file.h"

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kMaxJobFile = 1 << 20;
constexpr std::string_view kResultFolder = ".files";
constexpr std::string_view kStates[] = {"queued", "running", "done", "failed", "cancelled", "interrupted"};

}  // namespace

Json to_json(const Job& job) {
  Json error = job.message.empty() ? Json() : Json::object({{"message", job.message}});
  if (!job.hint.empty()) error.set("hint", job.hint);
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return Json::object({{"schema_version", 1},
                       {"id", job.id},
                       {"verb", job.verb},
                       {"state", job.state},
                       {"command", Json::texts(job.words)},
                       {"measures", job.measures},
                       {"created", job.created},
                       {"started", text(job.started)},
                       {"ended", text(job.ended)},
                       {"exit_code", job.exit_code ? Json(*job.exit_code) : Json()},
                       {"session", text(job.session)},
                       {"error", std::move(error)},
                       {"progress", text(job.progress)},
                       {"process_id", job.process_id > 0 ? Json(job.process_id) : Json()}});
}

core::Result<Job> job_from_json(const Json& document) {
  Job job;
  job.id = document["id"].text();
  job.verb = document["verb"].text();
  job.state = document["state"].text();
  for (const Json& word : document["command"].items()) job.words.emplace_back(word.text());
  job.measures = document["measures"].as_bool().value_or(true);
  job.created = document["created"].text();
  job.started = document["started"].text();
  job.ended = document["ended"].text();
  if (const auto code = document["exit_code"].as_i64()) job.exit_code = static_cast<int>(*code);
  job.session = document["session"].text();
  job.message = document["error"]["message"].text();
  job.hint = document["error"]["hint"].text();
  job.process_id = document["process_id"].as_i64().value_or(0);
  job.process_started = document["process_started"].as_i64().value_or(0);
  const bool known = std::find(std::begin(kStates), std::end(kStates), job.state) != std::end(kStates);
  if (job.id.empty() || job.words.empty() || !known) return core::fail(core::ErrorCode::invalid_input, "damaged job file");
  return job;
}

std::string JobFolder::file(std::string_view id, std::string_view ending) const {
  return core::join_path(path_, std::string(id) + std::string(ending));
}

core::Result<std::vector<Job>> JobFolder::read() const {
  std::vector<Job> jobs;
  AACO_ASSIGN(const auto names, core::list_directory(path_));
  for (const std::string& name : names) {
    if (!name.ends_with(".json") || name.starts_with('.')) continue;
    const auto text = core::read_file(core::join_path(path_, name), kMaxJobFile);
    const auto document = text ? Json::parse(*text) : tl::unexpected<core::Error>(text.error());
    auto job = document ? job_from_json(*document) : tl::unexpected<core::Error>(document.error());
    if (job && job->id + ".json" == name) jobs.push_back(std::move(*job));
  }
  return jobs;
}

core::Status JobFolder::write(const Job& job) const {
  Json document = to_json(job);
  document.set("process_started", job.process_started);
  return core::write_file_atomic(file(job.id, ".json"), document.dump() + "\n");
}

std::vector<std::string> JobFolder::with_results(const JobVerb& verb, std::string_view id, std::vector<std::string> words) const {
  if (!verb.folder_option.empty()) words.push_back(std::string(verb.folder_option) + "=" + file(id, kResultFolder));
  return words;
}

void JobFolder::remove(std::string_view id) const {
  for (const std::string_view ending : {std::string_view(".json"), std::string_view(".log"), std::string_view(".result"),
                                        std::string_view(".progress"), kResultFolder})
    (void)core::remove_tree(file(id, ending));
}

void read_error(const std::string& log, Job& job) {
  for (const std::string_view line : core::split_lines(log)) {
    if (line.starts_with("aaco: ")) job.message = line.substr(6);
    if (const auto text = core::trim(line); text.starts_with("hint: ")) job.hint = text.substr(6);
  }
  if (job.message.empty()) job.message = "the command failed with exit code " + std::to_string(job.exit_code.value_or(-1));
}

}  // namespace aaco::workflows
