#include "server/handlers.h"

namespace aaco::server {
namespace {

using core::Json;

core::Result<workflows::Jobs*> jobs_of(const Site& site) {
  if (site.jobs != nullptr) return site.jobs;
  if (site.no_jobs != nullptr) return tl::unexpected<core::Error>(*site.no_jobs);
  return core::fail(core::ErrorCode::unsupported, "this server runs no jobs");
}

Response text_response(std::string text) { return {.type = "text/plain; charset=utf-8", .body = std::move(text)}; }

}  // namespace

core::Result<Response> get_jobs(const Call& call, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  const std::string state = call.text("state");
  const auto limit = static_cast<std::size_t>(call.whole("limit").value_or(100));
  Json list = Json::array();
  std::size_t found = 0;
  for (const workflows::Job& job : jobs->list()) {
    if (!state.empty() && job.state != state) continue;
    if (++found <= limit) list.push(to_json(job));
  }
  return json_response(Json::object({{"schema_version", 1}, {"found", found}, {"jobs", std::move(list)}}));
}

core::Result<Response> get_job(const Call& call, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  AACO_ASSIGN(const workflows::Job job, jobs->find(call.path.at("job")));
  return json_response(to_json(job));
}

core::Result<Response> get_job_log(const Call& call, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  AACO_ASSIGN(std::string log, jobs->log(call.path.at("job")));
  return text_response(std::move(log));
}

core::Result<Response> get_job_result(const Call& call, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  AACO_ASSIGN(std::string result, jobs->result(call.path.at("job")));
  return Response{.body = std::move(result)};
}

core::Result<Response> post_job(const Call& call, const Site& site) {
  AACO_ASSIGN(workflows::Jobs * jobs, jobs_of(site));
  const auto verb = call.pattern.substr(call.pattern.rfind('/') + 1);
  const auto job = jobs->start(verb, call.parameters);
  if (!job && job.error().code == core::ErrorCode::exhausted) return refusal(429, job.error().message, job.error().remedy);
  if (!job) return tl::unexpected<core::Error>(job.error());
  Response response = json_response(to_json(*job));
  response.status = 202;
  response.headers.emplace_back("Location", "/api/v1/jobs/" + job->id);
  return response;
}

core::Result<Response> post_job_cancel(const Call& call, const Site& site) {
  AACO_ASSIGN(workflows::Jobs * jobs, jobs_of(site));
  AACO_ASSIGN(const workflows::Job job, jobs->cancel(call.path.at("job")));
  return json_response(to_json(job));
}

core::Result<Response> get_policy(const Call&, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  return json_response(to_json(jobs->policy()).set("schema_version", 1));
}

}  // namespace aaco::server
