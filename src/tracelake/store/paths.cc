#include "tracelake/store/paths.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/files.h"
#include "core/random.h"
#include "core/strings.h"

namespace aaco::tracelake::store {
namespace fs = std::filesystem;
using core::ErrorCode;

namespace {

constexpr std::string_view kOpenSuffix = ".open";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_id_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

}  // namespace

std::string open_folder_of(const std::string& session_path) {
  return core::join_path(core::parent_path(session_path), "." + core::base_name(session_path) + std::string(kOpenSuffix));
}

std::string_view id_of_open_folder(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kOpenSuffix) || name.size() <= 1 + kOpenSuffix.size()) return {};
  return name.substr(1, name.size() - 1 - kOpenSuffix.size());
}

bool is_date(std::string_view name) {
  if (name.size() != 10) return false;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (i == 4 || i == 7 ? name[i] != '-' : !is_digit(name[i])) return false;
  return true;
}

core::Status check_session_id(std::string_view id) {
  if (!id.empty() && id.size() <= 128 && id.front() != '.' && std::all_of(id.begin(), id.end(), is_id_character)) return {};
  return core::fail(ErrorCode::invalid_argument, "'" + std::string(id) + "' is not a session id",
                    "use up to 128 letters, digits, dashes, dots and underscores");
}

core::Status check_relative_path(std::string_view path) {
  bool good = !path.empty() && path.size() <= 1024 && path != kManifestFile;
  for (const std::string_view part : core::split(path, '/'))
    good = good && !part.empty() && part.size() <= 255 && part.front() != '.' && part.find('\0') == std::string_view::npos;
  if (good) return {};
  return core::fail(ErrorCode::invalid_argument, "'" + std::string(path) + "' is not a valid file name in a bundle",
                    "use a path relative to the bundle, with no component starting with a dot");
}

core::Result<std::vector<std::string>> bundle_files(const std::string& session_path) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(session_path, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    const fs::file_status status = entry->symlink_status(error);
    if (error) break;
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (hidden && fs::is_directory(status)) entry.disable_recursion_pending();
    if (!hidden && fs::is_regular_file(status)) files.push_back(entry->path().lexically_relative(session_path).string());
    if (!hidden && !fs::is_regular_file(status) && !fs::is_directory(status))
      return core::fail(ErrorCode::invalid_input,
                        entry->path().string() + " is neither a file nor a folder; a bundle contains nothing else", "remove it");
    entry.increment(error);
  }
  if (error) return core::fail_errno(error.value(), session_path);
  std::sort(files.begin(), files.end());
  return files;
}

void point_latest_at(const std::string& root, const std::string& session_path) {
  const std::string link = core::join_path(root, kLatestLink);
  const std::string temporary = core::join_path(root, ".latest." + std::to_string(core::system_entropy()));
  const std::string target = fs::path(session_path).lexically_relative(root).string();
  if (::symlink(target.c_str(), temporary.c_str()) != 0) return;
  if (::rename(temporary.c_str(), link.c_str()) != 0) ::unlink(temporary.c_str());
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace aaco::tracelake::store
