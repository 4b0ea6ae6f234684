#include "workflows/calibration_registry.h"

#include <algorithm>
#include <map>

#include "core/files.h"
#include "core/positional_bytes.h"
#include "workflows/hardware.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kSuffix = ".calibration", kEarlierSuffix = ".json";

std::string user_folder(const core::Paths& paths) { return core::join_path(paths.registry, "calibration"); }

// A device's files: the user's, and what came with the program behind it.
struct DeviceFiles {
  std::string user, shipped;  // empty: none
  [[nodiscard]] const std::string& first() const { return user.empty() ? shipped : user; }
};

// By device id. Where there is only the file of an earlier release, that counts: opening it says what to do.
core::Result<std::map<std::string, DeviceFiles>> files_of(const core::Paths& paths) {
  std::map<std::string, DeviceFiles> files;
  for (const bool user : {false, true}) {
    const std::string folder = user ? user_folder(paths) : paths.calibrations;
    if (folder.empty() || !core::is_directory(folder)) continue;
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string_view suffix : {kEarlierSuffix, kSuffix})
      for (const std::string& name : names)
        if (name.size() > suffix.size() && name.ends_with(suffix)) {
          DeviceFiles& device = files[name.substr(0, name.size() - suffix.size())];
          (user ? device.user : device.shipped) = core::join_path(folder, name);
        }
  }
  return files;
}

core::Result<estimation::CalibrationFile> open_any(const std::string& path) {
  AACO_ASSIGN(auto bytes, core::PositionalBytes::open(path));
  return estimation::CalibrationFile::open(std::move(bytes));
}

core::Result<estimation::CalibrationFile> open_one(const std::string& path, const std::string& id) {
  auto file = open_any(path);
  if (!file) {
    core::Error error = std::move(file).error();
    error.remedy = "recreate it with 'aaco calibrate --hardware " + id + " --measurements TABLE', or remove the file";
    return tl::unexpected<core::Error>(std::move(error));
  }
  if (file->head().device != id)
    return core::fail(core::ErrorCode::invalid_input, path + " contains a calibration for '" + file->head().device + "'",
                      "name the file after its device, or remove it");
  return file;
}

// The user's first: it counts class by class.
core::Status add_to(estimation::CalibrationSet& set, const DeviceFiles& files, const std::string& id,
                    const hardware::DeviceRegistry& registry) {
  auto device = registry.find(id);
  if (!device) return tl::unexpected<core::Error>(std::move(device).error().with("reading " + files.first()));
  for (const std::string& path : {files.user, files.shipped}) {
    if (path.empty()) continue;
    AACO_ASSIGN(const auto file, open_one(path, id));
    set.add_behind(file, estimation::facts_of(*device));
  }
  return {};
}

CalibrationEntry entry_of(const core::Paths& paths, const std::string& id, const std::string& path) {
  return {id, path, core::parent_path(path) == user_folder(paths), core::file_size(path).value_or(0), open_one(path, id)};
}

// What calibrations of the device are filed under. One of a device that the hardware registry does not know goes by its file's
// name.
core::Result<std::string> id_of(const std::string& name, const std::map<std::string, DeviceFiles>& files,
                                const Services& services) {
  if (files.contains(name)) return name;
  AACO_ASSIGN(const hardware::Device device, find_device(name, services));
  return estimation::facts_of(device).id;
}

}  // namespace

std::string user_calibration_path(const core::Paths& paths, const std::string& device) {
  return core::join_path(user_folder(paths), device + std::string(kSuffix));
}

core::Result<estimation::CalibrationSet> load_calibrations(const core::Paths& paths, const hardware::DeviceRegistry& registry,
                                                           const std::vector<std::string>& devices) {
  AACO_ASSIGN(const auto files, files_of(paths));
  estimation::CalibrationSet set;
  for (const auto& [id, of] : files)
    if (devices.empty() || std::find(devices.begin(), devices.end(), id) != devices.end())
      AACO_TRY(add_to(set, of, id, registry));
  return set;
}

core::Result<estimation::CalibrationSet> load_calibrations_for(const core::Paths& paths, const hardware::Device& device) {
  AACO_ASSIGN(const auto files, files_of(paths));
  if (files.empty()) return estimation::CalibrationSet();
  std::vector<std::string> ids;
  for (const auto& [id, of] : files) ids.push_back(id);
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load_some(paths, ids));
  // A processor lends nothing to a GPU, nor the other way round: what cannot be used is not read.
  const bool cpu = device.kind == hardware::DeviceKind::cpu;
  const std::string own = estimation::facts_of(device).id;
  estimation::CalibrationSet set;
  for (const auto& [id, of] : files) {
    const auto other = registry.find(id);
    if (id != own && other && (other->kind == hardware::DeviceKind::cpu) != cpu) continue;
    core::Status added = add_to(set, of, id, registry);
    // Others only lend what the device's own files lack.
    if (!added && (id == own || !files.contains(own))) return tl::unexpected<core::Error>(std::move(added).error());
  }
  return set;
}

core::Status save_calibration(const core::Paths& paths, const estimation::DeviceCalibration& calibration) {
  const std::string path = user_calibration_path(paths, calibration.device);
  AACO_TRY(core::make_writable_folder(core::parent_path(path), "AACO_REGISTRY"));
  AACO_TRY(core::write_file_atomic(path, to_bytes(calibration)));
  // What an earlier release fitted is replaced as well.
  return core::remove_tree(core::join_path(user_folder(paths), calibration.device + std::string(kEarlierSuffix)));
}

core::Result<std::vector<CalibrationEntry>> list_calibrations(const core::Paths& paths) {
  AACO_ASSIGN(const auto files, files_of(paths));
  std::vector<CalibrationEntry> entries;
  for (const auto& [id, of] : files)
    for (const std::string& path : {of.user, of.shipped})
      if (!path.empty()) entries.push_back(entry_of(paths, id, path));
  return entries;
}

core::Result<CalibrationEntry> find_calibration(const std::string& name, const Services& services) {
  AACO_ASSIGN(const auto files, files_of(services.paths));
  AACO_ASSIGN(const std::string device, id_of(name, files, services));
  const auto found = files.find(device);
  if (found == files.end())
    return core::fail(core::ErrorCode::not_found, "no calibration for " + device,
                      "create one with 'aaco calibrate --hardware " + device +
                          " --measurements TABLE'; 'aaco calibrate ls' lists all calibrations");
  CalibrationEntry entry = entry_of(services.paths, device, found->second.first());
  if (!entry.file) return tl::unexpected<core::Error>(entry.file.error());
  if (const auto whole = entry.file->whole(); !whole) return tl::unexpected<core::Error>(whole.error());
  return entry;
}

core::Result<std::string> remove_calibration(const std::string& name, const Services& services) {
  AACO_ASSIGN(const auto files, files_of(services.paths));
  AACO_ASSIGN(const std::string device, id_of(name, files, services));
  const std::string folder = user_folder(services.paths);
  std::string removed;
  for (const std::string_view suffix : {kSuffix, kEarlierSuffix}) {
    const std::string path = core::join_path(folder, device + std::string(suffix));
    if (!core::exists(path)) continue;
    AACO_TRY(core::remove_tree(path));
    removed += (removed.empty() ? "" : ", ") + path;
  }
  if (removed.empty())
    return core::fail(core::ErrorCode::not_found, "no calibration for " + device + " in " + folder,
                      "'aaco calibrate ls' lists all calibrations");
  return removed;
}

core::Json to_json(const CalibrationEntry& entry) {
  core::Json document =
      core::Json::object({{"device", entry.device}, {"path", entry.path}, {"own", entry.own}, {"bytes", entry.bytes}});
  if (!entry.file) return document.set("problem", entry.file.error().text());
  core::Json sections = core::Json::array();
  for (const estimation::SectionSize& size : entry.file->sections())
    sections.push(
        core::Json::object({{"name", size.name}, {"bytes", size.bytes}, {"members", size.members}, {"trees", size.trees}}));
  return document.set("calibration", to_json(entry.file->head())).set("sections", std::move(sections));
}

}  // namespace aaco::workflows
