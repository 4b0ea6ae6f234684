#include "workflows/session_report/measured_advice.h"

#include <fmt/format.h>

#include "core/files.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {

using core::Json;

core::Result<std::map<std::string, Json>> measured_advice(const std::string& sessions, const std::string& session_id) {
  std::map<std::string, Json> found;
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(sessions));  // oldest first
  for (const auto& entry : entries) {
    if (entry.manifest.kind != "optimize") continue;
    const auto manifest = tracelake::read_manifest(entry.path);
    if (!manifest || manifest->request["advice"]["session"].text() != session_id) continue;
    if (!manifest->request["advice"]["as_advised"].as_bool().value_or(true)) continue;  // another change was measured
    const auto document = core::read_json_file(core::join_path(entry.path, "metrics/optimize.json"));
    if (!document || !(*document)["proof"]["change_ratio"].is_number()) continue;
    const Json& proof = (*document)["proof"];
    found[std::string(manifest->request["advice"]["id"].text())] = Json::object({{"configuration", proof["configuration"]},
                                                                                 {"verdict", proof["verdict"]},
                                                                                 {"change_ratio", proof["change_ratio"]},
                                                                                 {"session", manifest->id.text}})
                                                                       .set_if("interval", proof["interval"]);
  }
  return found;
}

std::string measured_sentence(const Json& measured) {
  const Json& interval = measured["interval"];
  return fmt::format("measured here: {} {}{}, {}", measured["configuration"].text(),
                     core::format_signed_percent(measured["change_ratio"].as_f64().value_or(0)),
                     interval.is_object()
                         ? fmt::format(" ({} to {})", core::format_signed_percent(interval["low"].as_f64().value_or(0)),
                                       core::format_signed_percent(interval["high"].as_f64().value_or(0)))
                         : std::string(),
                     measured["verdict"].text());
}

Json with_measured(const Json& recommendations, const std::map<std::string, Json>& measured) {
  Json out = Json::array();
  for (const Json& one : recommendations.items()) {
    const auto found = measured.find(std::string(one["id"].text()));
    out.push(found == measured.end() ? one : Json(one).set("measured", found->second));
  }
  return out;
}

void add_measured(report::ReportModel& model, const std::map<std::string, Json>& measured) {
  for (auto& advice : model.advice)
    if (const auto found = measured.find(advice.id); found != measured.end())
      advice.evidence.push_back(measured_sentence(found->second));
}

}  // namespace aaco::workflows
