#include "hardware/registry/entry_files.h"

#include "core/files.h"

namespace aaco::hardware::registry {
namespace {

constexpr int kMaxFolderDepth = 4;  // of folders below data/hardware

core::Status collect(const std::string& folder, int depth, std::vector<std::string>& files) {
  AACO_ASSIGN(const std::vector<std::string> names, core::list_directory(folder));
  for (const std::string& name : names) {
    const std::string path = core::join_path(folder, name);
    if (core::is_directory(path)) {
      if (depth < kMaxFolderDepth) AACO_TRY(collect(path, depth + 1, files));
    } else if (name.ends_with(".yaml")) {
      files.push_back(path);
    }
  }
  return {};
}

}  // namespace

core::Result<std::vector<std::string>> entry_files(const std::string& folder) {
  std::vector<std::string> files;
  AACO_TRY(collect(folder, 0, files));
  return files;
}

std::string shipped_folder(const core::Paths& paths) { return core::join_path(paths.share, "data/hardware"); }
std::string own_folder(const core::Paths& paths) { return core::join_path(paths.registry, "hardware"); }

core::Status require_shipped(const core::Paths& paths) {
  if (core::is_directory(shipped_folder(paths))) return {};
  return core::fail(core::ErrorCode::not_found, "hardware registry " + shipped_folder(paths) + " not found",
                    "install the program with its share folder, or set AACO_SHARE");
}

}  // namespace aaco::hardware::registry
