#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::testing {

// The root of a checked-in machine, for reading.
inline std::string machine_root(const std::string& name) {
  return std::string(AACO_SOURCE_DIR "/tests/fixtures/machines/") + name;
}

// A copy of a checked-in machine (tests/fixtures/machines/NAME), or an empty one, whose files a test may change.
class FakeMachine {
 public:
  FakeMachine() : folder_(*core::TemporaryDirectory::make(std::filesystem::temp_directory_path().string(), "aaco-machine")) {}
  explicit FakeMachine(const std::string& name) : FakeMachine() { copy(machine_root(name), root()); }
  // Only the folders named ("proc", "sys/fs"): copying is what such tests spend their time on.
  FakeMachine(const std::string& name, std::initializer_list<std::string> folders) : FakeMachine() {
    for (const std::string& folder : folders) copy(core::join_path(machine_root(name), folder), core::join_path(root(), folder));
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
  static void copy(const std::string& from, const std::string& to) {
    std::filesystem::create_directories(to);
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  }
  core::TemporaryDirectory folder_;
};

}  // namespace aaco::testing
