#include <algorithm>

#include "core/files.h"
#include "core/hash.h"
#include "tracelake/bundle.h"
#include "tracelake/store/manifest_seal.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {
// Made from the evidence after the session was closed, and again whenever wanted.
bool is_derived(std::string_view file) { return file.starts_with("report/") || file.starts_with("regress/"); }
}  // namespace

core::Status check_files_there(const std::string& session_path, const trace::SessionManifest& manifest) {
  const std::string& id = manifest.id.text;
  for (const auto& [file, hash] : manifest.hashes)
    if (!is_derived(file) && !core::exists(core::join_path(session_path, file)))
      return core::fail(
          core::ErrorCode::invalid_input,
          "the session " + id + " is missing " + file + ", which its manifest lists: part of its data is lost",
          "run 'aaco verify " + id + "' to list all missing files; restore the session from a copy, or measure again");
  return {};
}

std::vector<std::string> changed_documents(const std::string& session_path, const trace::SessionManifest& manifest) {
  std::vector<std::string> changed;
  const std::string spine = core::join_path(session_path, store::kManifestFile);
  if (const auto text = core::read_file(spine); text && store::seal_of(*text) == store::Seal::broken)
    changed.emplace_back(store::kManifestFile);
  for (const auto& [file, recorded] : manifest.hashes) {
    if (!file.ends_with(".json") || is_derived(file)) continue;
    const auto hash = core::sha256_file(core::join_path(session_path, file));
    if (hash && *hash != recorded) changed.push_back(file);
  }
  return changed;
}

core::Result<std::vector<VerifyFinding>> verify_session(const std::string& session_path) {
  AACO_ASSIGN(const trace::SessionManifest manifest, read_manifest(session_path));
  if (manifest.state == "incomplete")
    return core::fail(core::ErrorCode::invalid_input,
                      session_path + " is incomplete: its writer exited before the session was closed");
  AACO_ASSIGN(const auto files, store::bundle_files(session_path));
  std::vector<VerifyFinding> findings;
  AACO_ASSIGN(const std::string text, core::read_file(core::join_path(session_path, store::kManifestFile)));
  if (store::seal_of(text) == store::Seal::broken) findings.push_back({std::string(store::kManifestFile), "changed"});
  for (const auto& [file, hash] : manifest.hashes)
    if (!std::binary_search(files.begin(), files.end(), file)) findings.push_back({file, "missing"});
  for (const std::string& file : files) {
    if (file == store::kManifestFile) continue;
    const auto recorded = manifest.hashes.find(file);
    if (recorded == manifest.hashes.end() && is_derived(file)) continue;
    if (recorded == manifest.hashes.end()) {
      findings.push_back({file, "unexpected"});
      continue;
    }
    AACO_ASSIGN(const std::string hash, core::sha256_file(core::join_path(session_path, file)));
    if (hash != recorded->second) findings.push_back({file, "changed"});
  }
  return findings;
}

}  // namespace aaco::tracelake
