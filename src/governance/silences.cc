#include "governance/silences.h"

#include "core/time_text.h"
#include "core/yaml.h"

namespace aaco::governance {
namespace {

bool matches_name(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == name;
}

core::Status read_silence_time(const core::YamlNode& entry, const char* key, std::int64_t& into) {
  AACO_ASSIGN(const auto text, entry.optional_string(key));
  if (!text) return {};
  const auto time = core::parse_time_text(*text);
  if (!time) return entry.error(std::string(key) + " is not a valid time", "write it as 2026-11-21T08:15 (UTC)");
  into = *time;
  return {};
}

core::Result<Silence> parse_silence(const core::YamlNode& entry, bool maintenance) {
  AACO_TRY(entry.only_keys({"node", "kind", "job", "device", "since", "until", "reason"}));
  Silence one;
  one.maintenance = maintenance;
  AACO_ASSIGN(one.reason, entry.require_string("reason"));
  if (one.reason.empty()) return entry.error("reason is empty");
  for (const auto& [key, into] :
       {std::pair<const char*, std::string*>("node", &one.node), {"kind", &one.kind}, {"job", &one.job}}) {
    AACO_ASSIGN(auto text, entry.optional_string(key));
    if (text) *into = std::move(*text);
  }
  AACO_ASSIGN(const auto device, entry.optional_i64("device"));
  if (device && (*device < 0 || *device > 65'535)) return entry.error("device is not a valid number of a device");
  if (device) one.device = static_cast<std::int32_t>(*device);
  AACO_TRY(read_silence_time(entry, "since", one.since_unix_ns));
  AACO_TRY(read_silence_time(entry, "until", one.until_unix_ns));
  if (maintenance && (one.since_unix_ns == INT64_MIN || one.until_unix_ns == INT64_MAX))
    return entry.error("a maintenance window requires since and until");
  if (one.until_unix_ns <= one.since_unix_ns) return entry.error("until is not after since");
  return one;
}

}  // namespace

core::Result<std::vector<Silence>> parse_silences(std::string_view text, const std::string& file) {
  AACO_ASSIGN(const auto document, core::YamlNode::parse(text, file));
  std::vector<Silence> out;
  if (document.is_null()) return out;
  AACO_TRY(document.only_keys({"schema_version", "silences", "maintenance"}));
  AACO_ASSIGN(const auto version, document.require_i64("schema_version"));
  if (version != 1) return document.error("schema_version must be 1");
  for (const bool maintenance : {false, true}) {
    const core::YamlNode* list = document.find(maintenance ? "maintenance" : "silences");
    if (list == nullptr || list->is_null()) continue;
    if (!list->is_sequence()) return list->error("expected a list");
    for (const core::YamlNode& entry : list->items()) {
      AACO_ASSIGN(auto one, parse_silence(entry, maintenance));
      out.push_back(std::move(one));
    }
  }
  return out;
}

const Silence* find_silence(std::span<const Silence> silences, const Silenceable& finding) {
  for (const Silence& one : silences) {
    if (!matches_name(one.node, finding.node) || !matches_name(one.kind, finding.kind) || !matches_name(one.job, finding.job))
      continue;
    if (one.device && *one.device != finding.device) continue;
    const bool now = one.since_unix_ns <= finding.until_unix_ns && finding.until_unix_ns <= one.until_unix_ns;
    const bool inside = one.maintenance && finding.since_unix_ns >= one.since_unix_ns - kMaintenanceSlackNs &&
                        finding.until_unix_ns <= one.until_unix_ns + kMaintenanceSlackNs;
    if (one.maintenance ? inside : now) return &one;
  }
  return nullptr;
}

}  // namespace aaco::governance
