#include "workflows/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/clock.h"
#include "core/files.h"
#include "core/id.h"
#include "core/numbers.h"
#include "core/random.h"
#include "workflows/jobs/plain_name.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kUploadAge_s = 24 * 3600;
constexpr std::size_t kMaxUploadName = 120;
constexpr std::string_view kOpenUpload = ".open-";  // begins the name of a file that is not complete

std::string clean_name(std::string_view name) {
  std::string clean(name.substr(name.size() > kMaxUploadName ? name.size() - kMaxUploadName : 0));
  for (char& c : clean)
    if (!is_plain_character(c) || c == '*') c = '_';
  const auto start = clean.find_first_not_of("._-");
  return start == std::string::npos ? std::string() : clean.substr(start);
}

}  // namespace

Upload::~Upload() {
  if (!finished_) (void)core::remove_tree(folder_);
}

std::string Upload::id() const { return core::base_name(folder_); }

core::Status Upload::write(std::string_view bytes) {
  bytes_ += static_cast<std::int64_t>(bytes.size());
  if (bytes_ > max_bytes_)
    return core::fail(core::ErrorCode::exhausted,
                      "the file is larger than " + core::format_bytes(static_cast<double>(max_bytes_)),
                      "raise max_upload of configs/server.yaml, or import it on the server with 'aaco import'");
  return core::write_all(file_.get(), bytes, name_);
}

core::Status Upload::finish() {
  if (bytes_ == 0) return core::fail(core::ErrorCode::invalid_argument, "the file is empty");
  const std::string open = core::join_path(folder_, std::string(kOpenUpload) + name_), file = core::join_path(folder_, name_);
  if (::rename(open.c_str(), file.c_str()) != 0) return core::fail_errno(errno, name_);
  finished_ = true;
  return {};
}

core::Result<std::unique_ptr<Upload>> Uploads::begin(std::string_view name, const UploadLimits& limits) const {
  if (!limits.allowed)
    return core::fail(core::ErrorCode::permission, "jobs of 'import' are disabled",
                      "add the verb to verbs of configs/server.yaml");
  const std::string clean = clean_name(name);
  if (clean.empty()) return core::fail(core::ErrorCode::invalid_argument, "invalid file name", "use one such as trace.json");
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return core::fail_errno(errno, folder_);
  forget_old();
  if (core::list_directory(folder_).value_or(std::vector<std::string>()).size() >= limits.max_files)
    return core::fail(core::ErrorCode::exhausted, "too many uploads are stored", "import them, or try again later");
  const core::SystemClock clock;
  const std::string id = core::make_session_id(clock.now_ns(core::ClockId::realtime), core::system_entropy()).text;
  const std::string folder = core::join_path(folder_, id);
  if (::mkdir(folder.c_str(), 0700) != 0) return core::fail_errno(errno, folder);
  const std::string file = core::join_path(folder, std::string(kOpenUpload) + clean);
  core::FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return core::fail_errno(errno, file);
  return std::make_unique<Upload>(folder, clean, limits.max_bytes, std::move(fd));
}

core::Result<std::string> Uploads::find(std::string_view id) const {
  const auto missing = [] {
    return core::fail(core::ErrorCode::not_found, "no such upload", "send the file with POST /api/v1/uploads?name=FILE");
  };
  if (!is_plain_name(id)) return missing();
  const std::string folder = core::join_path(folder_, id);
  const auto names = core::list_directory(folder);
  if (!names || names->size() != 1 || names->front().starts_with('.')) return missing();
  return core::join_path(folder, names->front());
}

void Uploads::forget(const std::vector<std::string>& words) const {
  for (const std::string& word : words)
    if (word.starts_with(folder_ + "/")) (void)core::remove_tree(core::parent_path(word));
}

void Uploads::forget_old() const {
  const std::int64_t now_s = core::SystemClock().now_ns(core::ClockId::realtime) / 1'000'000'000;
  for (const std::string& id : core::list_directory(folder_).value_or(std::vector<std::string>())) {
    const std::string folder = core::join_path(folder_, id);
    struct stat info {};
    if (::stat(folder.c_str(), &info) == 0 && now_s - info.st_mtim.tv_sec > kUploadAge_s) (void)core::remove_tree(folder);
  }
}

Uploads uploads_of(const std::string& sessions) {
  return Uploads(core::join_path(core::absolute_path(sessions), ".jobs/uploads"));
}

}  // namespace aaco::workflows
