#include "workflows/ort_build.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/files.h"
#include "core/strings.h"
#include "runner/registry.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

constexpr std::string_view kLibraryName = "libonnxruntime.so.1";
constexpr std::string_view kLoaderPrefix = "ld-linux";

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> found(::realpath(path.c_str(), nullptr), &std::free);
  return found ? std::string(found.get()) : std::string();
}

bool is_mapped(const std::string& file) {
  const auto maps = core::read_file("/proc/self/maps");
  return maps && maps->find(" " + file + "\n") != std::string::npos;
}

// Only a program image: a script in its place could start this program again and again.
bool is_elf(const std::string& path) {
  const auto bytes = core::read_file(path, std::int64_t{64} << 20);
  return bytes && bytes->starts_with(
                      "\x7f"
                      "ELF");
}

}  // namespace

std::string library_of_build(const std::string& name, const core::Paths& paths) {
  if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..") return {};
  const std::string path = core::join_path(paths.cache, "onnxruntime/" + name + "/lib/" + std::string(kLibraryName));
  return core::exists(path) ? path : std::string();
}

std::string library_of(const std::string& named, const std::string& backend_name, const core::Environment& environment,
                       const core::Paths& paths) {
  if (!named.empty()) {
    const std::string build = library_of_build(named, paths);
    return build.empty() ? named : build;
  }
  if (const auto usual = environment.get("AACO_ORT_LIBRARY"); usual && !usual->empty()) return *usual;
  const auto registry = runner::Registry::load(paths);
  if (!registry) return {};
  const auto backend = registry->backend(backend_name);
  return backend ? library_of_build(backend->ort_build, paths) : std::string();
}

std::map<std::string, std::string> absent_builds(const std::string& named, const core::Environment& environment,
                                                 const core::Paths& paths) {
  std::map<std::string, std::string> absent;
  if (!named.empty() || environment.get("AACO_ORT_LIBRARY")) return absent;
  const auto registry = runner::Registry::load(paths);
  if (!registry) return absent;
  for (const auto& [name, backend] : registry->backends())
    if (!backend.ort_build.empty() && library_of_build(backend.ort_build, paths).empty())
      absent[name] =
          "requires the build '" + backend.ort_build + "' of ONNX Runtime: scripts/bootstrap.sh --ort-" + backend.ort_build;
  return absent;
}

std::string own_loader(const std::string& library) {
  if (library.find('/') == std::string::npos) return {};
  const std::string folder = core::parent_path(library);
  const auto files = core::list_directory(folder);
  if (!files) return {};
  const auto found = std::find_if(files->begin(), files->end(), [](const auto& name) { return name.starts_with(kLoaderPrefix); });
  if (found == files->end()) return {};
  const std::string loader = real_path(core::join_path(folder, *found));
  return loader.empty() || is_mapped(loader) ? std::string() : loader;
}

core::Status enter_build(const std::string& library, const std::vector<std::string>& command_line) {
  const std::string loader = own_loader(library);
  if (loader.empty()) return {};
  if (!is_elf(loader))
    return core::fail(ErrorCode::unsupported, loader + " is not a valid program loader",
                      "fetch the build again (scripts/bootstrap.sh --ort-providers), or pass another --ort-lib");
  std::vector<std::string> words{loader, "--library-path", core::absolute_path(core::parent_path(library)),
                                 core::executable_path()};
  for (std::size_t i = 1; i < command_line.size(); ++i) words.push_back(command_line[i]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(loader.c_str(), arguments.data());
  return core::fail(ErrorCode::unsupported, loader + " could not be started: " + std::strerror(errno),
                    "fetch the build again (scripts/bootstrap.sh --ort-providers), or pass another --ort-lib");
}

}  // namespace aaco::workflows
