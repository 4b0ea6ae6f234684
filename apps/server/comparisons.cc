#include "core/environment.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "server/handlers.h"
#include "workflows/compare_page.h"
#include "workflows/diff_json.h"
#include "workflows/history_json.h"
#include "workflows/query_worker.h"
#include "workflows/session_list.h"

namespace aaco::server {
namespace {

using core::Json;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  for (const std::string_view word : core::split(text, ',')) words.emplace_back(core::trim(word));
  return words;
}

// A side's sessions as paths inside the lake; a tag means all its sessions and stays.
core::Result<std::vector<std::string>> side_of(const std::string& text, const Site& site) {
  std::vector<std::string> side;
  for (const std::string& name : words_of(text)) {
    AACO_ASSIGN(std::string path, workflows::find_in_lake(name, site.services.paths));
    if (name.starts_with("tag:")) path = name;
    side.push_back(std::move(path));
  }
  return side;
}

core::Result<Json> verdict_of(const Call& call, const Site& site) {
  workflows::DiffRequest request;
  AACO_ASSIGN(request.baseline, side_of(call.text("a"), site));
  AACO_ASSIGN(request.candidate, side_of(call.text("b"), site));
  request.metrics.threshold_ratio = call.ratio("threshold").value_or(0.05);
  request.metrics.names = words_of(call.text("metric"));
  request.force = call.flag("force");
  request.store = false;
  AACO_ASSIGN(const auto outcome, workflows::diff(request, site.services));
  return to_json(outcome, request);
}

}  // namespace

core::Result<Response> get_diff(const Call& call, const Site& site) {
  AACO_ASSIGN(const Json verdict, verdict_of(call, site));
  return json_response(verdict);
}

core::Result<Response> get_diff_page(const Call& call, const Site& site) {
  AACO_ASSIGN(const Json verdict, verdict_of(call, site));
  constexpr std::string_view kText = "This page requires JavaScript; 'aaco diff A B' prints the comparison as text.";
  AACO_ASSIGN(std::string page, workflows::render_comparison(verdict, kText, site.services.paths));
  return page_response(std::move(page));
}

core::Result<Response> get_history(const Call& call, const Site& site) {
  workflows::HistoryRequest request;
  request.metric = call.text("metric");
  for (const std::string& text : call.all("where")) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value for 'where': expected NAME=VALUE");
    request.where[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (const auto last = call.whole("last")) request.last = static_cast<std::size_t>(*last);
  request.options.threshold_ratio = call.ratio("threshold").value_or(0.02);
  if (const auto budget = call.ratio("budget")) request.options.budget_ratio = *budget;
  if (const std::string better = call.text("better"); !better.empty()) {
    if (better != "lower" && better != "higher")
      return core::fail(core::ErrorCode::invalid_argument, "invalid value for 'better': expected lower or higher");
    request.lower_is_better = better == "lower";
  }
  AACO_ASSIGN(const auto outcome, workflows::history(request, site.services));
  return json_response(to_json(outcome, request));
}

core::Result<Response> post_query(const Call& call, const Site& site) {
  workflows::QueryLimits limits;
  limits.rows = static_cast<std::size_t>(call.whole("max_rows").value_or(10'000));
  limits.time = core::Nanoseconds(call.whole("timeout_s").value_or(10) * 1'000'000'000);
  const std::vector<std::string> worker = {core::executable_path(), "--sessions", site.services.paths.sessions, "query-worker"};
  AACO_ASSIGN(auto answer, workflows::query_in_worker(call.text("sql"), limits, worker));
  return json_response(Json::object({{"schema_version", 1}, {"truncated", answer.truncated}, {"rows", std::move(answer.rows)}}));
}

}  // namespace aaco::server
