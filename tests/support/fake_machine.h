#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/files.h"

namespace aaco::testing {

// The root of a checked-in machine, for reading.
inline std::string machine_root(const std::string& name) {
  return std::string(AACO_SOURCE_DIR "/tests/fixtures/machines/") + name;
}

// A copy of a checked-in machine (tests/fixtures/machines/NAME), or an empty one, whose files a test may change.
class FakeMachine {
 public:
  FakeMachine() : folder_(*core::TemporaryDirectory::make(std::filesystem::temp_directory_path().string(), "aaco-machine")) {}
  explicit FakeMachine(const std::string& name) : FakeMachine() {
    std::filesystem::copy(machine_root(name), folder_.path(),
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing |
                              std::filesystem::copy_options::copy_symlinks);
  }

  [[nodiscard]] const std::string& root() const { return folder_.path(); }
  // Makes or overwrites a file in place: whoever holds it open reads the new text.
  void write(std::string_view path, std::string_view text) const {
    const std::string full = core::join_path(root(), path.substr(path.starts_with('/')));
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full, std::ios::binary | std::ios::trunc) << text;
  }
  void remove(std::string_view path) const {
    std::filesystem::remove_all(core::join_path(root(), path.substr(path.starts_with('/'))));
  }

 private:
  core::TemporaryDirectory folder_;
};

}  // namespace aaco::testing
