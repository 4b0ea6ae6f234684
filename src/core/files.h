#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace aaco::core {

// The whole file; refuses one above `limit_bytes` (guards against a wrong path, /dev/zero and the like).
Result<std::string> read_file(const std::string& path, std::int64_t limit_bytes = std::int64_t{1} << 30);

// To an open file; `path` is what errors name.
Status write_all(int fd, std::string_view bytes, const std::string& path);

// Writes beside `path` and renames, so that a reader sees the old or the new bytes and never a part. Synced to disk.
Status write_file_atomic(const std::string& path, std::string_view bytes);

Status make_directories(const std::string& path);
// The same for a folder that an environment variable moves, and that is written to: where that fails, the remedy names the
// variable.
Status make_writable_folder(const std::string& path, std::string_view variable);
Status rename_path(const std::string& from, const std::string& to);
// Removes a file or a folder with all it holds; what does not exist is no error.
Status remove_tree(const std::string& path);
Result<std::int64_t> file_size(const std::string& path);
bool exists(const std::string& path);
bool is_directory(const std::string& path);
// Names in a folder (no "." and ".."), sorted.
Result<std::vector<std::string>> list_directory(const std::string& path);
// Bytes a folder's files take, links not followed.
Result<std::int64_t> tree_size(const std::string& path);
// Free bytes for an ordinary user on the file system that holds `path`.
Result<std::int64_t> free_space(const std::string& path);

std::string join_path(std::string_view left, std::string_view right);
std::string base_name(std::string_view path);
std::string parent_path(std::string_view path);
std::string absolute_path(const std::string& path);

// A folder of one's own under `parent`, removed with all it holds at the end of the owner's life.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> make(const std::string& parent, std::string_view prefix = "aaco");
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }
  // Keeps the folder; returns its path.
  std::string release() { return std::exchange(path_, {}); }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace aaco::core
