#include "workflows/session_choice.h"

#include <algorithm>

namespace aaco::workflows {

core::Status check_where(const SessionWhere& where) {
  for (const auto& [key, value] : where)
    if (key != "kind" && key != "tag" && key != "fingerprint" && key != "model" && key != "backend")
      return core::fail(core::ErrorCode::invalid_argument, "unknown session filter '" + key + "'",
                        "use model, backend, kind, tag or fingerprint");
  return {};
}

std::string fact_of(const trace::SessionManifest& manifest, const std::string& key) {
  if (key == "kind") return manifest.kind;
  if (key == "tag") return manifest.tag;
  if (key == "fingerprint") return manifest.fingerprint;
  return manifest.outcome.text(key);
}

std::string same_thing(const trace::SessionManifest& manifest) {
  return manifest.kind + manifest.fingerprint + (manifest.kind == "import" ? ":" + manifest.tag : "") +
         (manifest.kind == "record" ? ":" + manifest.outcome.model : "");
}

bool is_meant(const trace::SessionManifest& manifest, const SessionWhere& where, const std::vector<std::string>& noted_tags) {
  return std::all_of(where.begin(), where.end(), [&](const auto& one) {
    if (one.first == "tag" && std::find(noted_tags.begin(), noted_tags.end(), one.second) != noted_tags.end()) return true;
    return fact_of(manifest, one.first) == one.second;
  });
}

}  // namespace aaco::workflows
