#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// Where things lie below a root: <root>/<date>/<id>/..., <root>/<date>/.<id>.open/... while it is written, <root>/latest.
namespace aaco::tracelake::store {

inline constexpr std::string_view kManifestFile = "session.json";
inline constexpr std::string_view kSpillFolder = ".spill";
inline constexpr std::string_view kLatestLink = "latest";
inline constexpr std::string_view kRemovedPrefix = ".removed.";  // a session on its way out

// <root>/<date>/<id> -> <root>/<date>/.<id>.open
std::string open_folder_of(const std::string& session_path);
// ".<id>.open" -> "<id>"; empty for any other name.
std::string_view id_of_open_folder(std::string_view name);
// "2026-11-21"
bool is_date(std::string_view name);

// Letters, digits, dash, dot and underscore, not beginning with a dot: it becomes a folder's name.
core::Status check_session_id(std::string_view id);
// Refuses absolute paths, "..", empty parts, and names that only the store may use (session.json, what begins with a dot).
core::Status check_relative_path(std::string_view path);

// The regular files below a bundle, relative, sorted; hidden ones left out. A link or device in it is an error.
core::Result<std::vector<std::string>> bundle_files(const std::string& session_path);

// Makes <root>/latest a link to the session, replacing an older link in one step. Best effort: where links are not possible,
// "latest" is found by looking.
void point_latest_at(const std::string& root, const std::string& session_path);

std::string host_name();

}  // namespace aaco::tracelake::store
