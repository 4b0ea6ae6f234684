#include "hardware/python_packages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/files.h"
#include "core/strings.h"

namespace aaco::hardware {
namespace {

using core::join_path;
using core::parent_path;

constexpr std::int64_t kMaxMetadataBytes = std::int64_t{4} << 20;
constexpr std::size_t kMaxFolders = 256;  // of a PYTHONPATH that was not meant

// What /proc says of a process; paths are as the process sees them, and lie below `root` for us.
struct Process {
  std::string root, folder;         // its root as its mount namespace has it; its folder of /proc
  std::string executable, program;  // the file that runs; the first word of the command line
  std::map<std::string, std::string, std::less<>> variables;

  [[nodiscard]] std::string variable(std::string_view name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  }
  // Where a path of the process lies for us.
  [[nodiscard]] std::string here(std::string_view path) const {
    return path.starts_with('/') ? join_path(root, path.substr(1)) : std::string();
  }
  [[nodiscard]] bool has(std::string_view path) const { return path.starts_with('/') && core::exists(here(path)); }
};

std::string link_target(const std::string& path) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

std::vector<std::string_view> between_nuls(std::string_view bytes) { return core::split(bytes, '\0'); }

std::optional<Process> look_at(const std::string& root, std::int64_t process_id) {
  Process process;
  process.folder = join_path(root, "proc/" + std::to_string(process_id));
  process.root = join_path(process.folder, "root");
  if (!core::is_directory(process.root)) process.root = root;
  process.executable = link_target(join_path(process.folder, "exe"));
  if (process.executable.ends_with(" (deleted)")) process.executable.resize(process.executable.size() - 10);
  if (!is_python(core::base_name(process.executable))) return std::nullopt;
  const auto command = core::read_file(join_path(process.folder, "cmdline"), kMaxMetadataBytes);
  const auto environment = core::read_file(join_path(process.folder, "environ"), kMaxMetadataBytes);
  if (command && !command->empty()) process.program = std::string(between_nuls(*command).front());
  if (environment)
    for (const std::string_view entry : between_nuls(*environment))
      if (const auto equals = entry.find('='); equals != std::string_view::npos)
        process.variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return process;
}

// Where the program was found, before links are followed: a virtual environment's bin/python is a link.
std::string program_path(const Process& process) {
  if (process.program.starts_with('/')) return process.program;
  if (process.program.find('/') != std::string::npos)
    return join_path(link_target(join_path(process.folder, "cwd")), process.program);
  const std::string path = process.variable("PATH");
  for (const std::string_view folder : core::split(path, ':'))
    if (const std::string candidate = join_path(folder, process.program); process.has(candidate)) return candidate;
  return process.executable;
}

std::string virtual_environment(const Process& process) {
  const std::string by_program = parent_path(parent_path(program_path(process)));
  if (process.has(join_path(by_program, "pyvenv.cfg"))) return by_program;
  return {};
}

bool sees_system_packages(const Process& process, const std::string& environment) {
  const auto text = core::read_file(process.here(join_path(environment, "pyvenv.cfg")), kMaxMetadataBytes);
  if (!text) return true;
  for (const std::string_view line : core::split(*text, '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && core::trim(line.substr(0, equals)) == "include-system-site-packages")
      return core::trim(line.substr(equals + 1)) == "true";
  }
  return false;
}

// lib/python3.11 and its like below a prefix: the one of the executable's own name, else all there are.
std::vector<std::string> library_folders(const Process& process, const std::string& prefix) {
  const std::string own = core::base_name(process.executable);
  std::vector<std::string> out;
  for (const char* library : {"lib", "lib64"}) {
    const std::string folder = join_path(prefix, library);
    if (own.find('.') != std::string::npos) {
      out.push_back(join_path(folder, own));
      continue;
    }
    const auto names = core::list_directory(process.here(folder));
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (is_python(name) && name.find('.') != std::string::npos) out.push_back(join_path(folder, name));
  }
  return out;
}

// Python's own order (the `site` module): PYTHONPATH, the virtual environment, the user's, the system's.
std::vector<std::string> search_folders(const Process& process, const std::string& environment) {
  std::vector<std::string> candidates;
  const std::string python_path = process.variable("PYTHONPATH");
  for (const std::string_view folder : core::split(python_path, ':'))
    if (folder.starts_with('/')) candidates.emplace_back(folder);
  const auto add_sites = [&](const std::string& prefix, std::initializer_list<const char*> names) {
    for (const std::string& library : library_folders(process, prefix))
      for (const char* name : names) candidates.push_back(join_path(library, name));
  };
  if (!environment.empty()) add_sites(environment, {"site-packages"});
  if (environment.empty() || sees_system_packages(process, environment)) {
    const std::string home = process.variable("PYTHONHOME");
    const std::string prefix = home.starts_with('/') ? home : parent_path(parent_path(process.executable));
    if (const std::string user = process.variable("HOME"); user.starts_with('/'))
      add_sites(join_path(user, ".local"), {"site-packages"});
    add_sites(join_path(prefix, "local"), {"dist-packages", "site-packages"});
    add_sites(prefix, {"site-packages", "dist-packages"});
    candidates.push_back(join_path(prefix, "lib/python3/dist-packages"));  // Debian's
  }
  std::vector<std::string> out;
  for (const std::string& folder : candidates)
    if (out.size() < kMaxFolders && core::is_directory(process.here(folder)) &&
        std::find(out.begin(), out.end(), folder) == out.end())
      out.push_back(folder);
  return out;
}

// Name and version from the head of METADATA or PKG-INFO (Python's core metadata: header fields, then an empty line).
std::optional<PythonPackage> from_metadata(const std::string& file) {
  const auto text = core::read_file(file, kMaxMetadataBytes);
  if (!text) return std::nullopt;
  PythonPackage package;
  for (const std::string_view line : core::split(*text, '\n')) {
    const std::string_view field = core::trim(line);
    if (field.empty()) break;
    if (field.starts_with("Name:")) package.name = core::trim(field.substr(5));
    if (field.starts_with("Version:")) package.version = core::trim(field.substr(8));
  }
  return package.name.empty() || package.version.empty() ? std::nullopt : std::optional(package);
}

// "numpy-1.26.4.dist-info" says it all (the installed-distribution layout: NAME-VERSION.dist-info); an .egg-info may leave the
// version to the file inside.
std::optional<PythonPackage> distribution(const std::string& folder, std::string_view name) {
  const bool modern = name.ends_with(".dist-info");
  const std::string_view stem = name.substr(0, name.size() - (modern ? 10 : 9));
  if (modern)
    if (const auto dash = stem.find('-'); dash != std::string_view::npos && dash > 0 && dash + 1 < stem.size())
      return PythonPackage{std::string(stem.substr(0, dash)), std::string(stem.substr(dash + 1))};
  const std::string path = join_path(folder, name);
  return from_metadata(core::is_directory(path) ? join_path(path, modern ? "METADATA" : "PKG-INFO") : path);
}

// Names are equal whatever their case and whether they have '-', '_' or '.'.
std::string folded(std::string_view name) {
  std::string out = core::to_lower(name);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return out;
}

}  // namespace

bool is_python(std::string_view program) {
  for (const std::string_view stem : {"python", "pypy"})
    if (program.starts_with(stem)) return program.substr(stem.size()).find_first_not_of("0123456789.") == std::string_view::npos;
  return false;
}

std::optional<PythonEnvironment> python_environment(const std::string& root, std::int64_t process_id) {
  const auto process = look_at(root, process_id);
  if (!process) return std::nullopt;
  PythonEnvironment out;
  out.interpreter = process->executable;
  out.virtual_environment = virtual_environment(*process);
  out.folders = search_folders(*process, out.virtual_environment);
  std::map<std::string, PythonPackage> packages;
  for (const std::string& folder : out.folders) {
    const std::string here = process->here(folder);
    for (const std::string& name : core::list_directory(here).value_or(std::vector<std::string>{})) {
      if (!name.ends_with(".dist-info") && !name.ends_with(".egg-info")) continue;
      if (auto package = distribution(here, name)) {
        const std::string key = folded(package->name);
        packages.emplace(key, std::move(*package));
      } else {
        ++out.unreadable;
      }
    }
  }
  for (auto& [key, package] : packages) out.packages.push_back(std::move(package));
  return out;
}

core::Json to_json(const PythonEnvironment& environment) {
  core::Json folders = core::Json::array(), packages = core::Json::object();
  for (const std::string& folder : environment.folders) folders.push(folder);
  for (const PythonPackage& package : environment.packages) packages.set(package.name, package.version);
  core::Json out = core::Json::object({{"interpreter", environment.interpreter}});
  if (!environment.virtual_environment.empty()) out.set("virtual_environment", environment.virtual_environment);
  out.set("folders", std::move(folders));
  out.set("packages", std::move(packages));
  if (environment.unreadable > 0) out.set("unreadable_distributions", environment.unreadable);
  return out;
}

}  // namespace aaco::hardware
