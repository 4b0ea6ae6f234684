#include "workflows/calibration_registry.h"

#include <algorithm>
#include <map>

#include "core/files.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kSuffix = ".json";

std::string shipped_folder(const core::Paths& paths) { return core::join_path(paths.share, "data/calibration"); }
std::string user_folder(const core::Paths& paths) { return core::join_path(paths.registry, "calibration"); }

// Device id -> file; the user's replace those that were shipped.
core::Result<std::map<std::string, std::string>> files_of(const core::Paths& paths) {
  std::map<std::string, std::string> files;
  for (const std::string& folder : {shipped_folder(paths), user_folder(paths)}) {
    if (!core::is_directory(folder)) continue;
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string& name : names)
      if (name.size() > kSuffix.size() && name.ends_with(kSuffix))
        files[name.substr(0, name.size() - kSuffix.size())] = core::join_path(folder, name);
  }
  return files;
}

core::Result<estimation::DeviceCalibration> load_one(const std::string& path, const std::string& id) {
  AACO_ASSIGN(const core::Json document, core::read_json_file(path));
  auto calibration = estimation::calibration_from_json(document);
  if (!calibration) return tl::unexpected<core::Error>(std::move(calibration).error().with("reading " + path));
  if (calibration->device != id)
    return core::fail(core::ErrorCode::invalid_input, path + " is a calibration of '" + calibration->device + "'",
                      "rename the file after its device, or remove it");
  return calibration;
}

core::Status load_into(estimation::CalibrationSet& set, const std::string& path, const std::string& id,
                       const hardware::DeviceRegistry& registry) {
  AACO_ASSIGN(auto calibration, load_one(path, id));
  auto device = registry.find(id);
  if (!device) return tl::unexpected<core::Error>(std::move(device).error().with("reading " + path));
  set.add(std::move(calibration), estimation::facts_of(*device));
  return {};
}

}  // namespace

std::string user_calibration_path(const core::Paths& paths, const std::string& device) {
  return core::join_path(user_folder(paths), device + std::string(kSuffix));
}

core::Result<estimation::CalibrationSet> load_calibrations(const core::Paths& paths, const hardware::DeviceRegistry& registry,
                                                           const std::vector<std::string>& devices) {
  AACO_ASSIGN(const auto files, files_of(paths));
  estimation::CalibrationSet set;
  for (const auto& [id, path] : files)
    if (devices.empty() || std::find(devices.begin(), devices.end(), id) != devices.end())
      AACO_TRY(load_into(set, path, id, registry));
  return set;
}

core::Result<estimation::CalibrationSet> load_calibrations_for(const core::Paths& paths, const hardware::Device& device) {
  AACO_ASSIGN(const auto files, files_of(paths));
  const estimation::DeviceFacts facts = estimation::facts_of(device);
  const auto own = files.find(facts.id);
  if (own == files.end()) {
    if (files.empty()) return estimation::CalibrationSet();
    AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(paths));
    // A processor lends nothing to a GPU, nor the other way round: what cannot be used is not read.
    const bool cpu = device.kind == hardware::DeviceKind::cpu;
    estimation::CalibrationSet set;
    for (const auto& [id, path] : files) {
      const auto other = registry.find(id);
      if (other && (other->kind == hardware::DeviceKind::cpu) != cpu) continue;
      AACO_TRY(load_into(set, path, id, registry));
    }
    return set;
  }
  AACO_ASSIGN(auto calibration, load_one(own->second, own->first));
  estimation::CalibrationSet set;
  set.add(std::move(calibration), facts);
  return set;
}

core::Status save_calibration(const core::Paths& paths, const estimation::DeviceCalibration& calibration) {
  const std::string path = user_calibration_path(paths, calibration.device);
  AACO_TRY(core::make_directories(core::parent_path(path)));
  return core::write_file_atomic(path, estimation::to_json(calibration).dump(1) + "\n");
}

}  // namespace aaco::workflows
