#include "trace/session.h"

namespace aaco::trace {
namespace {

using core::Json;

Json phases_to_json(const std::vector<Phase>& phases) {
  Json out = Json::array();
  for (const Phase& phase : phases)
    out.push(Json::object({{"name", phase.name}, {"start_ns", phase.start_ns}, {"end_ns", phase.end_ns}}));
  return out;
}

}  // namespace

Json to_json(const std::vector<Warning>& warnings) {
  Json out = Json::array();
  for (const Warning& warning : warnings) {
    Json item = Json::object({{"id", warning.id}, {"message", warning.message}});
    if (!warning.remedy.empty()) item.set("remedy", warning.remedy);
    out.push(std::move(item));
  }
  return out;
}

Json to_json(const SessionManifest& manifest) {
  Json accounts = Json::array();
  for (const Account& account : manifest.accounts) accounts.push(to_json(account));
  Json hashes = Json::object();
  for (const auto& [file, hash] : manifest.hashes) hashes.set(file, hash);
  return Json::object({{"schema_version", manifest.schema_version},
                       {"session_id", manifest.id.text},
                       {"kind", manifest.kind},
                       {"tag", manifest.tag},
                       {"state", manifest.state},
                       {"tool_version", manifest.tool_version},
                       {"created_realtime_ns", manifest.created_realtime_ns},
                       {"created", core::iso8601_utc(manifest.created_realtime_ns)},
                       {"home_clock", to_string(manifest.home_clock)},
                       {"command", Json::texts(manifest.command)},
                       {"request", manifest.request},
                       {"outcome", to_json(manifest.outcome)},
                       {"phases", phases_to_json(manifest.phases)},
                       {"clocks", to_json(manifest.clocks)},
                       {"accounts", std::move(accounts)},
                       {"warnings", to_json(manifest.warnings)},
                       {"fingerprint", manifest.fingerprint},
                       {"hashes", std::move(hashes)}});
}

core::Result<SessionManifest> session_from_json(const Json& document) {
  using core::ErrorCode;
  const auto version = document["schema_version"].as_i64();
  if (!version || *version < 1) return core::fail(ErrorCode::invalid_input, "not a session manifest: schema_version is missing");
  if (*version > kSessionSchemaVersion)
    return core::fail(ErrorCode::unsupported,
                      "the session has schema version " + std::to_string(*version) + "; this aaco supports up to " +
                          std::to_string(kSessionSchemaVersion),
                      "use the aaco version that wrote it, or a newer one");
  SessionManifest manifest;
  manifest.schema_version = static_cast<int>(*version);
  manifest.id.text = document["session_id"].text();
  manifest.kind = document["kind"].text();
  if (manifest.id.text.empty() || manifest.kind.empty())
    return core::fail(ErrorCode::invalid_input, "not a session manifest: session_id or kind is missing");
  manifest.tag = document["tag"].text();
  manifest.state = document["state"].as_string().value_or("incomplete");
  manifest.tool_version = document["tool_version"].text();
  manifest.created_realtime_ns = document["created_realtime_ns"].as_i64().value_or(0);
  const auto home_clock = core::clock_from_string(document["home_clock"].text());
  if (!home_clock)
    return core::fail(ErrorCode::invalid_input,
                      "the session's home clock '" + std::string(document["home_clock"].text()) + "' is unknown");
  manifest.home_clock = *home_clock;
  for (const Json& word : document["command"].items()) manifest.command.emplace_back(word.text());
  manifest.request = document["request"];
  manifest.outcome = outcome_from_json(document["outcome"]);
  for (const Json& phase : document["phases"].items()) {
    const auto start = phase["start_ns"].as_i64();
    const auto end = phase["end_ns"].as_i64();
    if (!start || !end)
      return core::fail(ErrorCode::invalid_input, "the phase '" + std::string(phase["name"].text()) + "' lacks its start or end");
    manifest.phases.push_back({std::string(phase["name"].text()), *start, *end});
  }
  AACO_ASSIGN(manifest.clocks, clock_graph_from_json(document["clocks"]));
  for (const Json& item : document["accounts"].items()) {
    AACO_ASSIGN(Account account, account_from_json(item));
    manifest.accounts.push_back(std::move(account));
  }
  for (const Json& item : document["warnings"].items())
    manifest.warnings.push_back(
        {std::string(item["id"].text()), std::string(item["message"].text()), std::string(item["remedy"].text())});
  manifest.fingerprint = document["fingerprint"].text();
  for (const auto& [file, hash] : document["hashes"].members()) manifest.hashes[file] = hash.text();
  return manifest;
}

}  // namespace aaco::trace
