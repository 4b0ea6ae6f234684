#include <unistd.h>

#include <map>

#include "core/files.h"
#include "core/hash.h"
#include "tracelake/bundle.h"
#include "tracelake/store/bundle_sink.h"
#include "tracelake/store/manifest_seal.h"
#include "tracelake/store/open_session.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class Writer final : public BundleWriter {
 public:
  Writer(store::OpenSession session, core::SessionId id)
      : session_(std::move(session)), id_(std::move(id)), sink_(std::make_unique<store::BundleSink>(session_.path())) {}

  [[nodiscard]] const std::string& path() const override { return session_.path(); }
  trace::Sink& sink() override { return *sink_; }
  core::Status write(std::string_view relative_path, std::string_view bytes) override;
  core::Status flush() override { return sink_->write_tables(); }
  core::Result<std::string> close(trace::SessionManifest manifest) override;

 private:
  core::Result<std::map<std::string, std::string>> hash_files() const;
  core::Status finish(trace::SessionManifest manifest);
  store::OpenSession session_;
  core::SessionId id_;
  std::unique_ptr<store::BundleSink> sink_;
};

// The manifest of an open session says so, and by whom it is written.
core::Status write_open_manifest(const std::string& folder, trace::SessionManifest manifest) {
  manifest.state = "incomplete";
  core::Json document = to_json(manifest);
  document.set("writer", core::Json::object({{"process_id", ::getpid()}, {"host", store::host_name()}}));
  return core::write_file_atomic(join_path(folder, store::kManifestFile), document.dump() + "\n");
}

core::Status Writer::write(std::string_view relative_path, std::string_view bytes) {
  AACO_TRY(store::check_relative_path(relative_path));
  const std::string file = join_path(session_.path(), relative_path);
  AACO_TRY(core::make_directories(core::parent_path(file)));
  return core::write_file_atomic(file, bytes);
}

core::Result<std::map<std::string, std::string>> Writer::hash_files() const {
  std::map<std::string, std::string> hashes;
  AACO_ASSIGN(const auto files, store::bundle_files(session_.path()));
  for (const std::string& file : files) {
    if (file == store::kManifestFile) continue;
    AACO_ASSIGN(hashes[file], core::sha256_file(join_path(session_.path(), file)));
  }
  return hashes;
}

core::Status Writer::finish(trace::SessionManifest manifest) {
  AACO_TRY(sink_->write_tables());
  sink_.reset();
  AACO_TRY(core::remove_tree(join_path(session_.path(), store::kSpillFolder)));
  AACO_ASSIGN(manifest.hashes, hash_files());
  if (manifest.state == "incomplete") manifest.state = "complete";
  return core::write_file_atomic(join_path(session_.path(), store::kManifestFile), store::sealed(to_json(manifest)));
}

core::Result<std::string> Writer::close(trace::SessionManifest manifest) {
  if (session_.published() || !sink_) return core::fail(ErrorCode::conflict, session_.path() + ": the session is already closed");
  if (manifest.id.text != id_.text)
    return core::fail(ErrorCode::invalid_argument,
                      "the session was opened as " + id_.text + " and cannot be closed as " + manifest.id.text);
  if (core::Status finished = finish(manifest); !finished) {
    (void)write_open_manifest(session_.path(), std::move(manifest));  // what was found out is kept as far as the disk allows
    return tl::unexpected<core::Error>(std::move(finished).error().with("closing " + session_.path()));
  }
  AACO_ASSIGN(std::string path, session_.publish());
  store::point_latest_at(session_.root(), path);
  return path;
}

}  // namespace

core::Result<std::unique_ptr<BundleWriter>> BundleWriter::create(const std::string& root,
                                                                 const trace::SessionManifest& manifest) {
  AACO_ASSIGN(auto session, store::OpenSession::create(root, manifest.id.text, manifest.created_realtime_ns));
  if (core::Status written = write_open_manifest(session.path(), manifest); !written) {
    session.discard();
    return tl::unexpected<core::Error>(std::move(written).error().with("creating a session"));
  }
  return std::make_unique<Writer>(std::move(session), manifest.id);
}

}  // namespace aaco::tracelake
