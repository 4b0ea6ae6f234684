#include "workflows/fleet_lake.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/files.h"
#include "core/hash.h"
#include "core/numbers.h"
#include "trace/session_kind.h"
#include "tracelake/bundle.h"
#include "tracelake/remote.h"
#include "workflows/fleet_sessions.h"
#include "workflows/push.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using Sessions = std::vector<FleetSession>;

constexpr std::string_view kTag = "tag:";
constexpr std::int64_t kCacheBytes = std::int64_t{4} << 30;

// The sessions of one name. Several ids with the same beginning are a conflict, as in the local lake.
core::Result<std::vector<std::string>> ids_of_name(const std::string& name, const Sessions& sessions, const std::string& fleet) {
  std::vector<std::string> found;
  const bool tagged = name.starts_with(kTag);
  for (const auto& one : sessions) {
    if (name == one.manifest.id.text) return std::vector{name};
    const bool meant = name == "latest" || (tagged ? one.manifest.tag == name.substr(kTag.size()) && name.size() > kTag.size()
                                                   : !name.empty() && one.manifest.id.text.starts_with(name));
    if (meant) found.push_back(one.manifest.id.text);
  }
  if (found.empty())
    return core::fail(ErrorCode::not_found, "no session '" + name + "' in the fleet " + fleet,
                      "list them with: aaco query --on " + fleet + " \"SELECT session_id, tag FROM sessions\"");
  if (name == "latest") return std::vector{found.back()};
  if (!tagged && found.size() > 1)
    return core::fail(ErrorCode::conflict, fmt::format("'{}' matches the ids of {} sessions", name, found.size()),
                      "give more characters of the id");
  return found;
}

// What the workflows read of other sessions: runs and imports of the same thing, scatter of equal runs, proofs of advice. Those
// of the fingerprints named come first, then the newest.
std::vector<std::string> history_of(const Sessions& sessions, const std::set<std::string>& named) {
  std::set<std::string> fingerprints;
  for (const auto& one : sessions)
    if (named.contains(one.manifest.id.text)) fingerprints.insert(one.manifest.fingerprint);
  std::vector<std::string> same, others;
  for (auto one = sessions.rbegin(); one != sessions.rend(); ++one) {
    const auto& manifest = one->manifest;
    if (named.contains(manifest.id.text) || manifest.state != "complete") continue;
    if (!manifest.fingerprint.empty() && fingerprints.contains(manifest.fingerprint))
      same.push_back(manifest.id.text);
    else if (manifest.kind == "optimize" || (manifest.kind == "run" && !manifest.fingerprint.empty()))
      others.push_back(manifest.id.text);
  }
  same.insert(same.end(), others.begin(), others.end());
  return same;
}

struct Chosen {
  std::vector<std::string> named, others;  // others: the answer is possible without them
};

core::Result<Chosen> choose(const FleetChoice& choice, const Sessions& sessions, const std::string& fleet,
                            std::vector<std::string>& notes) {
  Chosen chosen;
  auto& ids = chosen.others;
  if (choice.all && choice.names.empty()) {
    for (const auto& one : sessions)
      if (one.manifest.whole() && is_meant(one.manifest, choice.where) && !trace::is_summary_kind(one.manifest.kind))
        ids.push_back(one.manifest.id.text);
    if (choice.last && ids.size() > *choice.last) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(*choice.last));
    return chosen;
  }
  for (const std::string& name : choice.names) {
    if (core::exists(name)) continue;  // a bundle or a baseline on this machine
    AACO_ASSIGN(const auto found, ids_of_name(name, sessions, fleet));
    chosen.named.insert(chosen.named.end(), found.begin(), found.end());
  }
  if (!choice.history) return chosen;
  ids = history_of(sessions, {chosen.named.begin(), chosen.named.end()});
  if (ids.size() > kMaxFleetHistory) {
    notes.push_back(
        fmt::format("run-to-run variation is estimated from {} of {} other sessions of the fleet", kMaxFleetHistory, ids.size()));
    ids.resize(kMaxFleetHistory);
  }
  return chosen;
}

core::Status copy_bundle(const tracelake::RemoteServer& server, const std::string& id, const std::string& root) {
  AACO_TRY(core::make_directories(root));
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make(root, ".fetch"));
  const std::string file = core::join_path(folder.path(), "session.tar.zst");
  AACO_TRY(tracelake::fetch_archive(server, id, file));
  const auto unpacked = tracelake::unpack_session(file, root);
  if (!unpacked) return tl::unexpected<core::Error>(unpacked.error());
  return {};
}

// Sessions that the fleet no longer has would count as history.
void remove_gone(const std::string& root, const Sessions& sessions) {
  const auto entries = tracelake::list_session_heads(root);
  if (!entries) return;
  std::set<std::string> there;
  for (const auto& one : sessions) there.insert(one.manifest.id.text);
  for (const auto& entry : *entries)
    if (entry.manifest.whole() && !there.contains(entry.manifest.id.text)) (void)tracelake::remove_session(entry.path);
}

std::int64_t bytes_of(const std::string& folder) {
  std::int64_t sum = 0;
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator file(folder, ignored), end; !ignored && file != end;
       file.increment(ignored)) {
    const auto size = file->is_regular_file(ignored) ? file->file_size(ignored) : 0;
    if (!ignored) sum += static_cast<std::int64_t>(size);
  }
  return sum;
}

// Removes the oldest bundles that this answer does not read, until the folder is within its limit.
void bound_cache(const std::string& root, const std::set<std::string>& in_use, std::int64_t limit_bytes) {
  const auto entries = tracelake::list_session_heads(root);
  if (!entries) return;
  std::int64_t sum = 0;
  std::vector<std::int64_t> sizes;
  for (const auto& entry : *entries) sum += sizes.emplace_back(bytes_of(entry.path));
  for (std::size_t i = 0; i < entries->size() && sum > limit_bytes; ++i) {  // oldest first
    if (in_use.contains((*entries)[i].manifest.id.text)) continue;
    if (tracelake::remove_session((*entries)[i].path)) sum -= sizes[i];
  }
}

core::Result<std::int64_t> cache_limit(const Services& services) {
  const auto text = services.environment.get("AACO_FLEET_CACHE");
  if (!text) return kCacheBytes;
  if (const auto bytes = core::parse_bytes(*text); bytes && *bytes > 0) return *bytes;
  return core::fail(ErrorCode::invalid_argument, "invalid value '" + *text + "' of AACO_FLEET_CACHE",
                    "expected a size such as 4GiB");
}

std::set<std::string> copied_ids(const std::string& root) {
  std::set<std::string> ids;
  if (const auto entries = tracelake::list_session_heads(root))
    for (const auto& entry : *entries)
      if (entry.manifest.whole()) ids.insert(entry.manifest.id.text);
  return ids;
}

}  // namespace

core::Result<FleetLake> copy_from_fleet(const std::string& fleet, const FleetChoice& choice, const Services& services) {
  AACO_ASSIGN(const auto server, find_fleet(fleet, services));
  AACO_ASSIGN(const std::int64_t limit_bytes, cache_limit(services));
  FleetLake out{services, {}, {}};
  AACO_ASSIGN(const auto sessions, fleet_sessions(fleet, "", out.missing, services));
  AACO_ASSIGN(const Chosen chosen, choose(choice, sessions, fleet, out.notes));
  const std::string place = core::sha256_hex(server.target().url + "/" + server.target().database).substr(0, 12);
  const std::string root = core::join_path(core::join_path(services.paths.cache, "fleet"), place);
  if (out.missing.empty()) remove_gone(root, sessions);
  std::set<std::string> there = copied_ids(root);
  std::size_t without_bundle = 0;
  for (const bool named : {true, false})
    for (const std::string& id : named ? chosen.named : chosen.others) {
      if (services.stopping()) return core::fail(ErrorCode::cancelled, "stopped");
      if (!there.insert(id).second) continue;
      services.progress("copying " + id);
      const auto copied = copy_bundle(server, id, root);
      if (copied) continue;
      if (named || copied.error().code != ErrorCode::not_found) return tl::unexpected<core::Error>(copied.error());
      ++without_bundle;
    }
  services.progress("");
  std::set<std::string> in_use(chosen.named.begin(), chosen.named.end());
  in_use.insert(chosen.others.begin(), chosen.others.end());
  bound_cache(root, in_use, limit_bytes);
  if (without_bundle > 0)
    out.notes.push_back(
        fmt::format("{} sessions of the fleet have no bundle there and are left out; push them again", without_bundle));
  out.services.paths.sessions = root;
  return out;
}

}  // namespace aaco::workflows
