#include <fmt/format.h>

#include "core/files.h"
#include "core/http.h"
#include "core/strings.h"
#include "core/yaml.h"
#include "tracelake/engine.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;

constexpr std::string_view kScheme = "clickhouse://";
constexpr std::string_view kSecureScheme = "clickhouses://";  // HTTPS

bool has_scheme(std::string_view url) { return url.starts_with(kScheme) || url.starts_with(kSecureScheme); }

bool is_database_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}

auto bad_target(const std::string& text) {
  return core::fail(ErrorCode::invalid_argument, "'" + text + "' is not a valid fleet",
                    "use clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml");
}

// HOST:PORT as the URL of its HTTP interface; a scheme http or https is kept.
core::Result<std::string> http_url(const std::string& place, const std::string& text) {
  const std::string url = place.find("://") == std::string::npos ? "http://" + place : place;
  const auto parts = core::split_url(url);
  if (!parts || parts->second != "/") return bad_target(text);
  return parts->first;
}

core::Result<RemoteTarget> from_url(const std::string& text) {
  RemoteTarget target;
  target.name = text;
  const bool secure = text.starts_with(kSecureScheme);
  const std::string place = text.substr((secure ? kSecureScheme : kScheme).size());
  if (place.find('@') != std::string::npos)
    return core::fail(ErrorCode::invalid_argument, "the address of a fleet must not contain a user or password",
                      "set AACO_CLICKHOUSE_USER and AACO_CLICKHOUSE_PASSWORD");
  const auto slash = place.find('/');
  if (slash != std::string::npos && slash + 1 < place.size()) target.database = place.substr(slash + 1);
  if (!is_database_name(target.database)) return bad_target(text);
  std::string host = place.substr(0, slash);
  if (host.empty()) return bad_target(text);
  if (host.find(':') == std::string::npos) host += secure ? ":8443" : ":8123";
  AACO_ASSIGN(target.url, http_url((secure ? "https://" : "http://") + host, text));
  return target;
}

// The text of the file that a key names; empty without the key.
core::Result<std::string> secret_of(const core::YamlNode& entry, const std::string& key) {
  AACO_ASSIGN(const auto file, entry.optional_string(key));
  if (!file) return std::string();
  AACO_ASSIGN(const std::string text, core::read_file(*file, 4096));
  return std::string(core::trim(text));
}

core::Result<RemoteTarget> from_entry(const core::YamlNode& entry, const std::string& name) {
  AACO_TRY(entry.only_keys({"url", "cluster", "shards", "user", "password_file", "token_file"}));
  AACO_ASSIGN(const std::string url, entry.require_string("url"));
  if (!has_scheme(url)) return entry.error("url must start with clickhouse:// or clickhouses://");
  AACO_ASSIGN(RemoteTarget target, from_url(url));
  target.name = name;
  AACO_ASSIGN(const auto cluster, entry.optional_string("cluster"));
  target.cluster = cluster.value_or("");
  if (const core::YamlNode* shards = entry.find("shards")) {
    if (!shards->is_sequence()) return shards->error("shards must be a list");
    for (const core::YamlNode& shard : shards->items()) {
      std::vector<std::string> places, urls;
      if (shard.is_sequence()) {
        AACO_ASSIGN(places, shard.as_strings());
      } else {
        AACO_ASSIGN(places.emplace_back(), shard.as_string());
      }
      for (const std::string& place : places) {
        AACO_ASSIGN(auto url_of_place, http_url(place, place));
        urls.push_back(std::move(url_of_place));
      }
      if (urls.empty()) return shard.error("a shard must have at least one server");
      target.shards.push_back(std::move(urls));
    }
  }
  if (target.cluster.empty() != target.shards.empty()) return entry.error("cluster and shards belong together");
  if (!target.cluster.empty() && !is_database_name(target.cluster)) return entry.error("cluster must be a plain name");
  AACO_ASSIGN(const auto user, entry.optional_string("user"));
  target.user = user.value_or("");
  AACO_ASSIGN(target.password, secret_of(entry, "password_file"));
  AACO_ASSIGN(target.token, secret_of(entry, "token_file"));
  return target;
}

core::Result<RemoteTarget> from_files(const std::string& name, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!core::exists(file)) continue;
    AACO_ASSIGN(const auto document, core::YamlNode::load(file));
    if (document.is_null()) continue;
    AACO_TRY(document.only_keys({"fleets"}));
    const core::YamlNode* fleets = document.find("fleets");
    if (fleets == nullptr || fleets->is_null()) continue;
    std::vector<std::string> known;
    for (const auto& [key, entry] : fleets->entries()) {
      if (key.scalar() == name) return from_entry(entry, name);
      known.push_back(key.scalar());
    }
    return core::fail(ErrorCode::not_found, fmt::format("{} has no fleet '{}'", file, name),
                      known.empty() ? "pass clickhouse://HOST:PORT/DATABASE" : "it has: " + core::join(known, ", "));
  }
  return core::fail(ErrorCode::not_found, fmt::format("no fleet '{}': fleet.yaml has no entries", name),
                    "pass clickhouse://HOST:PORT/DATABASE, or see docs/how_to/watch_a_fleet.md");
}

}  // namespace

core::Result<RemoteTarget> find_remote(const std::string& name, const std::vector<std::string>& files,
                                       const core::Environment& environment) {
  if (name.empty() || (name.find("://") != std::string::npos && !has_scheme(name))) return bad_target(name);
  auto target = has_scheme(name) ? from_url(name) : from_files(name, files);
  if (!target) return target;
  if (const auto user = environment.get("AACO_CLICKHOUSE_USER")) target->user = *user;
  if (const auto password = environment.get("AACO_CLICKHOUSE_PASSWORD")) target->password = *password;
  if (const auto token = environment.get("AACO_CLICKHOUSE_TOKEN")) target->token = *token;
  return target;
}

}  // namespace aaco::tracelake
