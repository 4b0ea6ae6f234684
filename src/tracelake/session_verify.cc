#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/files.h"
#include "core/hash.h"
#include "tracelake/bundle.h"
#include "tracelake/store/manifest_seal.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {
// Made from the evidence after the session was closed, and again whenever wanted.
bool is_derived(std::string_view file) { return file.starts_with("report/") || file.starts_with("regress/"); }

constexpr std::int64_t kHashedTableBytes = std::int64_t{64} << 20;  // of one session: about 0.2 s

// A Parquet file begins and ends with "PAR1"; the length of its footer stands before the end.
bool looks_whole(const std::string& path, std::int64_t bytes) {
  constexpr std::string_view kMagic = "PAR1";
  constexpr std::int64_t kTail = 8;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head{};
  std::array<unsigned char, kTail> tail{};
  if (bytes < kTail + 4 || !file.read(head.data(), 4) || !file.seekg(-kTail, std::ios::end) ||
      !file.read(reinterpret_cast<char*>(tail.data()), kTail))
    return false;
  const std::int64_t footer = tail[0] | tail[1] << 8 | tail[2] << 16 | std::int64_t{tail[3]} << 24;
  return std::equal(kMagic.begin(), kMagic.end(), head.begin()) && std::equal(kMagic.begin(), kMagic.end(), tail.begin() + 4) &&
         footer <= bytes - kTail - 4;
}

// Missing files are not for this: check_files_there() names them.
bool is_changed(const std::string& path, const std::string& recorded, std::int64_t& table_bytes_left, bool is_table) {
  if (is_table) {
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    if (error) return false;
    if (bytes > table_bytes_left) return !looks_whole(path, bytes);
    table_bytes_left -= bytes;
  }
  const auto hash = core::sha256_file(path);
  return hash && *hash != recorded;
}
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
  std::int64_t table_bytes_left = kHashedTableBytes;
  for (const auto& [file, recorded] : manifest.hashes) {
    const bool is_table = file.ends_with(".parquet");
    if ((!is_table && !file.ends_with(".json")) || is_derived(file)) continue;
    if (is_changed(core::join_path(session_path, file), recorded, table_bytes_left, is_table)) changed.push_back(file);
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
