#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/handles.h"
#include "core/special_file.h"

namespace aaco::core {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> fail_code(const std::error_code& error, const std::string& path) { return fail_errno(error.value(), path); }

// Who may use a folder; what is made in it is open to nobody else.
mode_t access_of(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.empty() ? "." : folder.c_str(), &info) == 0 ? info.st_mode & 0777 : 0700;
}

}  // namespace

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::int64_t limit_bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return fail_errno(errno, path);
  std::string bytes;
  struct stat info {};
  if (::fstat(file.get(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return fail(ErrorCode::invalid_input, path + " is a folder; expected a file");
    if (S_ISREG(info.st_mode) && info.st_size <= limit_bytes) bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  }
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(std::max<std::size_t>({bytes.capacity(), bytes.size() * 2, 16384}));
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, path);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (static_cast<std::int64_t>(used) > limit_bytes)
      return fail(ErrorCode::exhausted,
                  path + " is larger than the " + std::to_string(limit_bytes) + " bytes allowed for this kind of file");
  }
  bytes.resize(used);
  return bytes;
}

Status write_file_atomic(const std::string& path, std::string_view bytes) {
  if (is_written_in_place(path)) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
    if (!file.valid()) return fail_errno(errno, path);
    return write_all(file.get(), bytes, path);
  }
  std::string temporary = path + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return fail_errno(errno, path);
  ::fchmod(file.get(), 0644 & access_of(parent_path(path)));
  Status written = write_all(file.get(), bytes, path);
  if (written && ::fsync(file.get()) != 0) written = fail_errno(errno, path);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = fail_errno(errno, path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Status make_directories(const std::string& path) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path at = fs::path(path); !at.empty() && !fs::exists(at, error) && at != at.parent_path(); at = at.parent_path())
    if (!at.filename().empty()) missing.push_back(at);
  fs::create_directories(path, error);
  if (error) return fail_code(error, path);
  for (auto made = missing.rbegin(); made != missing.rend(); ++made) {
    struct stat info {};
    const mode_t allowed = access_of(parent_path(made->string()));
    if (::stat(made->c_str(), &info) == 0 && (info.st_mode & 0777 & ~allowed) != 0)
      ::chmod(made->c_str(), info.st_mode & 07777 & (allowed | 07000));
  }
  return {};
}

Status make_writable_folder(const std::string& path, std::string_view variable) {
  Status made = make_directories(path);
  if (made && ::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0) made = fail_errno(errno, path);
  if (!made) made.error().remedy = "set " + std::string(variable) + " to a writable folder";
  return made;
}

Status rename_path(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return fail_code(error, to);
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail_code(error, path);
  return {};
}

Result<std::int64_t> file_size(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return fail_code(error, path);
  return static_cast<std::int64_t>(size);
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::error_code error;
  fs::directory_iterator entry(path, error);
  if (error) return fail_code(error, path);
  std::vector<std::string> names;
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return fail_code(error, path);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::int64_t> tree_size(const std::string& path) {
  std::error_code error;
  std::int64_t total = 0;
  for (fs::recursive_directory_iterator entry(path, error); !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) {
      const auto size = entry->file_size(ignored);
      if (!ignored) total += static_cast<std::int64_t>(size);
    }
  }
  if (error) return fail_code(error, path);
  return total;
}

Result<std::int64_t> free_space(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return fail_errno(errno, path);
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

std::string join_path(std::string_view left, std::string_view right) { return (fs::path(left) / fs::path(right)).string(); }
std::string base_name(std::string_view path) { return fs::path(path).filename().string(); }
std::string parent_path(std::string_view path) { return fs::path(path).parent_path().string(); }

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent, std::string_view prefix) {
  AACO_TRY(make_directories(parent));
  std::string path = join_path(parent, std::string(prefix) + ".XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, parent);
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) (void)remove_tree(path_);
}

}  // namespace aaco::core
