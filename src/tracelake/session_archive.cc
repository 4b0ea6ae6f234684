#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>

#include "core/files.h"
#include "core/handles.h"
#include "core/hash.h"
#include "tracelake/archive/tar.h"
#include "tracelake/archive/zstd_file.h"
#include "tracelake/bundle.h"
#include "tracelake/store/access.h"
#include "tracelake/store/manifest_seal.h"
#include "tracelake/store/open_session.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::int64_t kManifestLimit = std::int64_t{64} << 20;
// A packed session may be this many times its compressed size (and kFreeBytes more): what exceeds it is taken for an attack on
// the disk.
constexpr std::int64_t kMaxExpansion = 1000;
constexpr std::int64_t kFreeBytes = std::int64_t{64} << 20;

core::Status pack_file(archive::TarWriter& tar, const std::string& path, const std::string& member, std::int64_t time,
                       const std::string& expected_hash) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return core::fail_errno(errno, path);
  AACO_ASSIGN(const std::int64_t size, core::file_size(path));
  AACO_TRY(tar.begin(member, size, time));
  core::Sha256 hash;
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return core::fail_errno(errno, path);
    if (count == 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    hash.add(bytes);
    AACO_TRY(tar.add(bytes));
  }
  if (!expected_hash.empty() && hash.finish_hex() != expected_hash)
    return core::fail(ErrorCode::invalid_input, path + " does not match its recorded hash, so unpacking the session would fail",
                      "run `aaco verify` for details");
  return tar.end_file();
}

core::Result<std::string> read_member(archive::TarReader& tar, const archive::TarMember& member, std::int64_t limit) {
  if (member.size > limit) return core::fail(ErrorCode::invalid_input, member.name + " exceeds the size limit of such a file");
  std::string bytes(static_cast<std::size_t>(member.size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    AACO_ASSIGN(const std::size_t count, tar.read(std::span(bytes).subspan(at)));
    at += count;
  }
  return bytes;
}

// Writes a member to a new file; answers its hash.
core::Result<std::string> unpack_member(archive::TarReader& tar, const archive::TarMember& member, const std::string& path) {
  AACO_TRY(core::make_directories(core::parent_path(path)));
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return core::fail_errno(errno, path);
  core::Sha256 hash;
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::int64_t>(member.size + 1, kBufferBytes)));
  for (;;) {
    AACO_ASSIGN(const std::size_t count, tar.read(buffer));
    if (count == 0) break;
    hash.add({buffer.data(), count});
    for (std::size_t at = 0; at < count;) {
      const ssize_t written = ::write(file.get(), buffer.data() + at, count - at);
      if (written < 0 && errno != EINTR) return core::fail_errno(errno, path);
      if (written > 0) at += static_cast<std::size_t>(written);
    }
  }
  return hash.finish_hex();
}

// The members that follow the manifest: exactly the files it lists, each as it was.
core::Status unpack_files(archive::TarReader& tar, const trace::SessionManifest& manifest, const std::string& folder,
                          std::int64_t budget) {
  std::map<std::string, std::string> expected = manifest.hashes;
  for (;;) {
    AACO_ASSIGN(const auto member, tar.next());
    if (!member) break;
    const std::string prefix = manifest.id.text + "/";
    const std::string relative = member->name.starts_with(prefix) ? member->name.substr(prefix.size()) : std::string();
    const auto found = expected.find(relative);
    if (found == expected.end() || !store::check_relative_path(relative))
      return core::fail(ErrorCode::invalid_input,
                        "the archive contains '" + member->name + "', which its manifest does not list or lists twice");
    budget -= member->size;
    if (budget < 0)
      return core::fail(ErrorCode::exhausted, "the archive unpacks to more than its size or the free disk space allows");
    AACO_ASSIGN(const std::string hash, unpack_member(tar, *member, join_path(folder, relative)));
    if (hash != found->second)
      return core::fail(ErrorCode::invalid_input, relative + " does not match its recorded hash", "download or pack it again");
    expected.erase(found);
  }
  if (!expected.empty())
    return core::fail(ErrorCode::invalid_input, "the archive is missing " + expected.begin()->first, "download or pack it again");
  return {};
}

core::Result<std::string> unpack(archive::TarReader& tar, const std::string& root, std::int64_t budget) {
  AACO_ASSIGN(const auto first, tar.next());
  if (!first || core::base_name(first->name) != store::kManifestFile)
    return core::fail(ErrorCode::invalid_input, "not a packed session: the first entry is not session.json",
                      "create one with `aaco pack`");
  AACO_ASSIGN(const std::string text, read_member(tar, *first, kManifestLimit));
  if (store::seal_of(text) == store::Seal::broken)
    return core::fail(ErrorCode::invalid_input, "session.json does not match its seal", "download or pack it again");
  AACO_ASSIGN(const core::Json document, core::Json::parse(text));
  AACO_ASSIGN(const trace::SessionManifest manifest, trace::session_from_json(document));
  if (first->name != manifest.id.text + "/" + std::string(store::kManifestFile))
    return core::fail(ErrorCode::invalid_input, "the folder in the archive is not named after the session id");
  AACO_ASSIGN(store::OpenSession session, store::OpenSession::create(root, manifest.id.text, manifest.created_realtime_ns));
  core::Status status = unpack_files(tar, manifest, session.path(), budget);
  if (status) status = core::write_file_atomic(join_path(session.path(), store::kManifestFile), text);
  if (status) return session.publish();
  session.discard();
  return tl::unexpected<core::Error>(std::move(status).error());
}

}  // namespace

core::Status pack_session(const std::string& session_path, const std::string& file) {
  AACO_ASSIGN(const trace::SessionManifest manifest, read_manifest(session_path));
  if (manifest.state == "incomplete")
    return core::fail(ErrorCode::invalid_input, session_path + " is incomplete; only complete sessions can be packed");
  AACO_ASSIGN(const std::string text, core::read_file(join_path(session_path, store::kManifestFile)));
  if (store::seal_of(text) == store::Seal::broken)
    return core::fail(ErrorCode::invalid_input, session_path + "/session.json was modified after the session was closed",
                      "run `aaco verify` to list all modified files");
  AACO_TRY(store::check_session_id(manifest.id.text));
  AACO_ASSIGN(auto out, archive::ZstdFileWriter::create(file));
  archive::TarWriter tar([&out](std::string_view bytes) { return out.write(bytes); });
  const std::int64_t time = manifest.created_realtime_ns / 1'000'000'000;
  const auto pack = [&](const std::string& name, const std::string& hash) {
    return pack_file(tar, join_path(session_path, name), manifest.id.text + "/" + name, time, hash);
  };
  AACO_TRY(pack(std::string(store::kManifestFile), {}));
  for (const auto& [name, hash] : manifest.hashes) {
    AACO_TRY(store::check_relative_path(name));
    AACO_TRY(pack(name, hash));
  }
  AACO_TRY(tar.finish());
  return out.finish();
}

core::Result<std::string> unpack_session(const std::string& file, const std::string& root) {
  AACO_ASSIGN(auto in, archive::ZstdFileReader::open(file));
  AACO_ASSIGN(const std::int64_t packed, core::file_size(file));
  AACO_TRY(store::make_root(root));
  AACO_ASSIGN(const std::int64_t room, core::free_space(root));
  archive::TarReader tar([&in](std::span<char> into) { return in.read(into); });
  auto path = unpack(tar, root, std::min(room, packed * kMaxExpansion + kFreeBytes));
  if (!path) return tl::unexpected<core::Error>(std::move(path).error().with("unpacking " + file));
  return path;
}

}  // namespace aaco::tracelake
