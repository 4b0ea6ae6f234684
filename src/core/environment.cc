#include "core/environment.h"

#include <dlfcn.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "core/files.h"

extern char** environ;  // NOLINT: POSIX names it so

namespace aaco::core {
namespace {

std::string home_of_user() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir != nullptr ? found->pw_dir : "";
}

}  // namespace

Environment Environment::of_process() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) result.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  if (!result.get("HOME"))
    if (std::string home = home_of_user(); !home.empty()) result.set("HOME", std::move(home));
  return result;
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables_.find(std::string(name));
  if (found == variables_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

Paths Paths::find(const Environment& environment, const std::string& executable) {
  // never a folder that others may write: libraries are loaded from the cache
  const std::string home = environment.get("HOME").value_or("/nonexistent");
  auto xdg = [&](std::string_view variable, std::string_view below_home) {
    return join_path(environment.get(variable).value_or(join_path(home, below_home)), "aaco");
  };
  Paths paths;
  paths.share = environment.get("AACO_SHARE").value_or(join_path(parent_path(parent_path(executable)), "share/aaco"));
  paths.calibrations = environment.get("AACO_CALIBRATIONS").value_or(join_path(paths.share, "data/calibration"));
  paths.cache = xdg("XDG_CACHE_HOME", ".cache");
  paths.registry = environment.get("AACO_REGISTRY").value_or(xdg("XDG_DATA_HOME", ".local/share"));
  paths.config = xdg("XDG_CONFIG_HOME", ".config");
  paths.sessions = absolute_path(environment.get("AACO_SESSIONS").value_or("sessions"));
  return paths;
}

std::string executable_path() {
  std::array<char, 4096> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  const std::string path = length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string();
  if (!std::string_view(path).substr(path.rfind('/') + 1).starts_with("ld-linux")) return path;
  // Started by a loader that was named explicitly (ld.so PROGRAM): then the link names the loader.
  Dl_info image{};
  if (::dladdr(reinterpret_cast<const void*>(&executable_path), &image) == 0 || image.dli_fname == nullptr) return path;
  return absolute_path(image.dli_fname);
}

}  // namespace aaco::core
