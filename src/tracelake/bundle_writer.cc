#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/files.h"
#include "core/handles.h"
#include "core/hash.h"
#include "tracelake/bundle.h"
#include "tracelake/store/bundle_sink.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

core::Status sync_folder(const std::string& path) {
  const core::FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || ::fsync(folder.get()) != 0) return core::fail_errno(errno, path);
  return {};
}

class Writer final : public BundleWriter {
 public:
  Writer(std::string root, std::string final_path, std::string open_path, core::FileDescriptor lock)
      : root_(std::move(root)),
        final_path_(std::move(final_path)),
        path_(std::move(open_path)),
        lock_(std::move(lock)),
        sink_(std::make_unique<store::BundleSink>(path_)) {}

  [[nodiscard]] const std::string& path() const override { return path_; }
  trace::Sink& sink() override { return *sink_; }
  core::Status write(std::string_view relative_path, std::string_view bytes) override;
  core::Status flush() override { return sink_->write_tables(); }
  core::Result<std::string> close(trace::SessionManifest manifest) override;

 private:
  core::Result<std::map<std::string, std::string>> hash_files() const;
  std::string root_, final_path_, path_;
  core::FileDescriptor lock_;  // on the open folder: held means that its writer lives
  std::unique_ptr<store::BundleSink> sink_;
};

core::Status Writer::write(std::string_view relative_path, std::string_view bytes) {
  AACO_TRY(store::check_relative_path(relative_path));
  const std::string file = join_path(path_, relative_path);
  AACO_TRY(core::make_directories(core::parent_path(file)));
  return core::write_file_atomic(file, bytes);
}

core::Result<std::map<std::string, std::string>> Writer::hash_files() const {
  std::map<std::string, std::string> hashes;
  AACO_ASSIGN(const auto files, store::bundle_files(path_));
  for (const std::string& file : files) {
    AACO_ASSIGN(hashes[file], core::sha256_file(join_path(path_, file)));
  }
  hashes.erase(std::string(store::kManifestFile));
  return hashes;
}

core::Result<std::string> Writer::close(trace::SessionManifest manifest) {
  if (!lock_.valid()) return core::fail(ErrorCode::conflict, final_path_ + ": the session is closed already");
  AACO_TRY(sink_->write_tables());
  sink_.reset();
  AACO_TRY(core::remove_tree(join_path(path_, store::kSpillFolder)));
  AACO_ASSIGN(manifest.hashes, hash_files());
  if (manifest.state == "incomplete") manifest.state = "complete";
  AACO_TRY(core::write_file_atomic(join_path(path_, store::kManifestFile), to_json(manifest).dump() + "\n"));
  AACO_TRY(sync_folder(path_));
  AACO_TRY(core::rename_path(path_, final_path_));
  AACO_TRY(sync_folder(core::parent_path(final_path_)));
  lock_.reset();
  path_ = final_path_;
  store::point_latest_at(root_, final_path_);
  return final_path_;
}

}  // namespace

core::Result<std::unique_ptr<BundleWriter>> BundleWriter::create(const std::string& root,
                                                                 const trace::SessionManifest& manifest) {
  AACO_TRY(store::check_session_id(manifest.id.text));
  const std::string absolute = core::absolute_path(root);
  const std::string day = join_path(absolute, core::iso8601_utc(manifest.created_realtime_ns).substr(0, 10));
  const std::string final_path = join_path(day, manifest.id.text);
  const std::string open_path = store::open_folder_of(final_path);
  AACO_TRY(core::make_directories(day));
  if (core::exists(final_path)) return core::fail(ErrorCode::conflict, final_path + ": there is such a session already");
  if (::mkdir(open_path.c_str(), 0777) != 0) return core::fail_errno(errno, open_path);
  core::FileDescriptor lock(::open(open_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return core::fail_errno(errno, open_path);
  (void)::flock(lock.get(), LOCK_EX);  // where the file system has no locks, the process id in the manifest must do

  trace::SessionManifest first = manifest;
  first.state = "incomplete";
  core::Json document = to_json(first);
  document.set("writer", core::Json::object({{"process_id", ::getpid()}, {"host", store::host_name()}}));
  AACO_TRY(core::write_file_atomic(join_path(open_path, store::kManifestFile), document.dump() + "\n"));
  return std::make_unique<Writer>(absolute, final_path, open_path, std::move(lock));
}

}  // namespace aaco::tracelake
