#include "server/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"
#include "server/access.h"

namespace aaco::server {
namespace {

constexpr mode_t kOwnerOnly = 0600, kOthers = 0077;

core::Result<std::string> read_token(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return core::fail_errno(errno, path);
  if ((info.st_mode & kOthers) != 0)
    return core::fail(core::ErrorCode::permission, path + " is accessible to others: it contains the server's token",
                      "chmod 600 " + path);
  AACO_ASSIGN(const std::string text, core::read_file(path, 4096));
  std::string token(core::trim(text));
  if (token.size() < kMinTokenLength || token.find_first_of(" \t\r\n;,\"") != std::string::npos)
    return core::fail(
        core::ErrorCode::invalid_input,
        path + " does not contain a token: expected one word of at least " + std::to_string(kMinTokenLength) + " characters",
        "remove the file; the server then creates one");
  return token;
}

core::Result<std::string> write_token(const std::string& path) {
  std::string token = make_token();
  core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (!file.valid()) return core::fail_errno(errno, path);
  AACO_TRY(core::write_all(file.get(), token + "\n", path));
  return token;
}

}  // namespace

core::Result<TokenFile> TokenFile::open(const std::string& named, std::uint16_t port, const core::Environment& environment,
                                        const core::Paths& paths) {
  if (!named.empty()) {
    AACO_ASSIGN(std::string token, core::exists(named) ? read_token(named) : write_token(named));
    return TokenFile(named, std::move(token), false);
  }
  const auto runtime = environment.get("XDG_RUNTIME_DIR");
  const std::string folder = runtime && core::is_directory(*runtime) ? core::join_path(*runtime, "aaco") : paths.registry;
  AACO_TRY(core::make_directories(folder));
  const std::string path = core::join_path(folder, "server-" + std::to_string(port) + ".token");
  ::unlink(path.c_str());  // of a server that was killed: only one listens on this port
  AACO_ASSIGN(std::string token, write_token(path));
  return TokenFile(path, std::move(token), true);
}

TokenFile::TokenFile(TokenFile&& other) noexcept
    : path_(std::move(other.path_)), token_(std::move(other.token_)), temporary_(std::exchange(other.temporary_, false)) {}

TokenFile::~TokenFile() {
  if (temporary_) ::unlink(path_.c_str());
}

}  // namespace aaco::server
