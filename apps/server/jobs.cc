#include "server/handlers.h"
#include "server/phrases.h"

namespace aaco::server {
namespace {

using core::Json;

core::Result<workflows::Jobs*> jobs_of(const Site& site) {
  if (site.jobs != nullptr) return site.jobs;
  if (site.no_jobs != nullptr) return tl::unexpected<core::Error>(*site.no_jobs);
  return core::fail(core::ErrorCode::unsupported, "this server runs no jobs");
}

// A job as it is stored, with its error in the words of this interface.
Json document(workflows::Job job) {
  job.message = rest_phrasing().of(job.message);
  job.hint = rest_phrasing().of(job.hint);
  return to_json(job);
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
    if (++found <= limit) list.push(document(job));
  }
  return json_response(Json::object({{"schema_version", 1}, {"found", found}, {"jobs", std::move(list)}}));
}

core::Result<Response> get_job(const Call& call, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  AACO_ASSIGN(const workflows::Job job, jobs->find(call.path.at("job")));
  return json_response(document(job));
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
  if (!job) {
    Response refused = refusal(job.error());
    if (job.error().code == core::ErrorCode::exhausted) refused.status = 429;
    return refused;
  }
  Response response = json_response(document(*job));
  response.status = 202;
  response.headers.emplace_back("Location", "/api/v1/jobs/" + job->id);
  return response;
}

core::Result<Response> post_job_cancel(const Call& call, const Site& site) {
  AACO_ASSIGN(workflows::Jobs * jobs, jobs_of(site));
  AACO_ASSIGN(const workflows::Job job, jobs->cancel(call.path.at("job")));
  return json_response(document(job));
}

core::Result<Response> get_policy(const Call&, const Site& site) {
  AACO_ASSIGN(const workflows::Jobs* jobs, jobs_of(site));
  return json_response(to_json(jobs->policy()).set("schema_version", 1));
}

}  // namespace aaco::server
