#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

constexpr std::string_view kTagPrefix = "tag:";
constexpr std::size_t kCandidatesShown = 8;

bool is_session(const std::string& path) { return core::exists(join_path(path, store::kManifestFile)); }

core::Result<std::string> newest(const std::string& root, std::string_view tag) {
  AACO_ASSIGN(const auto entries, list_session_heads(root));
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->manifest.whole() && (tag.empty() || entry->has_tag(tag))) return entry->path;
  for (auto entry = entries.rbegin(); entry != entries.rend() && !tag.empty(); ++entry)
    if (entry->has_tag(tag)) return entry->path;  // of a killed run: what the caller says of incomplete sessions fits it
  if (!tag.empty())
    return core::fail(ErrorCode::not_found, "no session under " + root + " has the tag " + std::string(tag),
                      "`aaco ls` lists sessions with their tags");
  return core::fail(ErrorCode::not_found, "no session under " + root,
                    "create one with `aaco run`, or set another folder with --sessions");
}

core::Result<std::string> by_id(const std::string& root, std::string_view beginning) {
  std::vector<std::string> found;
  if (core::exists(root)) {
    AACO_ASSIGN(const auto days, core::list_directory(root));
    for (const std::string& day : days) {
      if (!store::is_date(day)) continue;
      AACO_ASSIGN(const auto names, core::list_directory(join_path(root, day)));
      for (const std::string& name : names) {
        const std::string_view open_id = store::id_of_open_folder(name);
        const std::string_view id = open_id.empty() ? std::string_view(name) : open_id;
        const std::string path = join_path(join_path(root, day), name);
        if (!id.starts_with(beginning) || (open_id.empty() && !is_session(path))) continue;
        if (id == beginning) return path;
        found.push_back(path);
      }
    }
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    return core::fail(ErrorCode::not_found, "no session '" + std::string(beginning) + "' under " + root,
                      "`aaco ls` lists the sessions");
  std::string message = "'" + std::string(beginning) + "' matches the ids of " + std::to_string(found.size()) + " sessions:";
  for (std::size_t i = 0; i < std::min(found.size(), kCandidatesShown); ++i) message += " " + core::base_name(found[i]);
  return core::fail(ErrorCode::conflict, message + (found.size() > kCandidatesShown ? " ..." : ""),
                    "give more characters of the id");
}

}  // namespace

core::Result<std::string> find_session(const std::string& root, std::string_view name) {
  if (name.empty()) return core::fail(ErrorCode::invalid_argument, "empty session name", "use an id, a path, latest or tag:NAME");
  if (name.starts_with(kTagPrefix)) {
    const std::string_view tag = name.substr(kTagPrefix.size());
    if (tag.empty()) return core::fail(ErrorCode::invalid_argument, "tag: needs a tag name");
    return newest(root, tag);
  }
  if (name == store::kLatestLink) {
    const std::string link = join_path(root, store::kLatestLink);
    std::error_code error;
    if (is_session(link))
      if (const auto target = std::filesystem::canonical(link, error); !error) return target.string();
    return newest(root, {});
  }
  std::string path(name);
  if (is_session(path)) {
    path = core::absolute_path(path);
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }
  if (path.find('/') != std::string::npos)
    return core::fail(ErrorCode::not_found, path + " is not a session: it has no " + std::string(store::kManifestFile));
  return by_id(root, name);
}

}  // namespace aaco::tracelake
