#include "hardware/gpu_devices.h"

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/inventory/read.h"

namespace aaco::hardware {
namespace {

using inventory::MachineFiles;

constexpr std::string_view kDrm = "/sys/class/drm";
constexpr std::string_view kKfdNodes = "/sys/class/kfd/kfd/topology/nodes";
constexpr double kMicrowatts = 1e-6;

// KEY=value lines of a uevent file, or "key value" lines of a KFD properties file.
std::map<std::string, std::string> keyed_lines(std::string_view text, char separator) {
  std::map<std::string, std::string> values;
  for (const std::string_view line : core::split_lines(text))
    if (const std::size_t at = line.find(separator); at != std::string_view::npos)
      values[std::string(line.substr(0, at))] = core::trim(line.substr(at + 1));
  return values;
}

std::string value_of(const std::map<std::string, std::string>& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

// What the compute driver knows of a GPU node; a partitioned device has several, at one PCI location.
struct KfdNode {
  std::int64_t domain = 0, location = 0;
  std::string architecture;
  std::optional<std::int64_t> compute_units;
};

// 90402 -> gfx942: major, minor and stepping of which the last two are hexadecimal digits.
std::string architecture_name(std::int64_t version) {
  if (version <= 0) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto digit = [&](std::int64_t value) { return std::string(1, kDigits[static_cast<std::size_t>(value % 16)]); };
  return "gfx" + std::to_string(version / 10000) + digit(version / 100 % 100) + digit(version % 100);
}

std::vector<KfdNode> read_kfd_nodes(const MachineFiles& files) {
  std::vector<KfdNode> nodes;
  for (const std::string& name : files.names(kKfdNodes)) {
    const auto values = keyed_lines(files.text_or_empty(std::string(kKfdNodes) + "/" + name + "/properties"), ' ');
    const auto number = [&](const char* key) { return core::parse_i64(value_of(values, key)); };
    const auto simds = number("simd_count"), per_unit = number("simd_per_cu"), location = number("location_id");
    if (!simds || *simds <= 0 || !location) continue;  // a CPU
    KfdNode node{number("domain").value_or(0), *location, architecture_name(number("gfx_target_version").value_or(0)),
                 std::nullopt};
    if (per_unit && *per_unit > 0) node.compute_units = *simds / *per_unit;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// "0000:c1:00.0" -> domain and the location id that KFD uses (bus, device and function in one number).
std::optional<std::pair<std::int64_t, std::int64_t>> pci_location(const std::string& address) {
  const auto parts = core::split(address, ':');
  if (parts.size() != 3 || parts[2].size() < 4 || parts[2][2] != '.') return std::nullopt;
  const auto hex = [](std::string_view text) { return core::parse_u64("0x" + std::string(text)); };
  const auto domain = hex(parts[0]), bus = hex(parts[1]), device = hex(parts[2].substr(0, 2)), function = hex(parts[2].substr(3));
  if (!domain || !bus || !device || !function) return std::nullopt;
  return std::pair(static_cast<std::int64_t>(*domain), static_cast<std::int64_t>((*bus << 8) | (*device << 3) | *function));
}

std::string hwmon_of(const MachineFiles& files, const std::string& folder) {
  for (const std::string& name : files.names(folder + "/hwmon"))
    if (inventory::number_after(name, "hwmon")) return folder + "/hwmon/" + name;
  return {};
}

PcieLink read_link(const MachineFiles& files, const std::string& folder) {
  const auto lanes = [&](const char* name) {
    const auto value = files.integer(folder + name);
    return value && *value > 0 ? value : std::nullopt;
  };
  return {parse_link_speed(files.text_or_empty(folder + "/current_link_speed")),
          parse_link_speed(files.text_or_empty(folder + "/max_link_speed")), lanes("/current_link_width"),
          lanes("/max_link_width")};
}

GpuInfo read_amd(const MachineFiles& files, const AmdDevice& device, const std::vector<KfdNode>& nodes) {
  const auto uevent = keyed_lines(files.text_or_empty(device.folder + "/uevent"), '=');
  const auto text = [&](const char* name) { return files.text_or_empty(device.folder + "/" + name); };
  GpuInfo gpu;
  gpu.index = device.index;
  gpu.vendor = "amd";
  gpu.pci_address = device.pci_address;
  gpu.pci_id = value_of(uevent, "PCI_ID");
  gpu.name = text("product_name");
  if (gpu.name.empty()) gpu.name = gpu.pci_id.empty() ? "AMD GPU" : "AMD GPU " + gpu.pci_id;
  gpu.unique_id = text("unique_id");
  gpu.vbios = text("vbios_version");
  gpu.memory_bytes = files.integer(device.folder + "/mem_info_vram_total");
  if (const auto node = files.integer(device.folder + "/numa_node"); node && *node >= 0) gpu.numa_node = node;
  if (const auto cap = files.integer(device.hwmon_folder + "/power1_cap"); cap && *cap > 0 && !device.hwmon_folder.empty())
    gpu.power_cap_watts = static_cast<double>(*cap) * kMicrowatts;
  gpu.compute_partition = text("current_compute_partition");
  gpu.memory_partition = text("current_memory_partition");
  gpu.pcie = read_link(files, device.folder);
  const auto location = pci_location(device.pci_address);
  for (const KfdNode& node : nodes) {
    if (!location || node.domain != location->first ||
        (node.location & ~std::int64_t{7}) != (location->second & ~std::int64_t{7}))
      continue;
    gpu.architecture = node.architecture;
    gpu.partitions.push_back(node.architecture +
                             (node.compute_units ? ", " + std::to_string(*node.compute_units) + " CUs" : std::string()));
    if (node.compute_units) gpu.compute_units = gpu.compute_units.value_or(0) + *node.compute_units;
  }
  if (gpu.partitions.size() < 2) gpu.partitions.clear();
  return gpu;
}

GpuInfo read_nvidia(const MachineFiles& files, const std::string& address) {
  std::map<std::string, std::string> values;
  const std::string text = files.text_or_empty("/proc/driver/nvidia/gpus/" + address + "/information");
  for (const std::string_view line : core::split_lines(text))
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
      values[std::string(core::trim(line.substr(0, colon)))] = core::trim(line.substr(colon + 1));
  GpuInfo gpu;
  gpu.vendor = "nvidia";
  gpu.pci_address = address;
  gpu.name = value_of(values, "Model").empty() ? "NVIDIA GPU" : value_of(values, "Model");
  gpu.unique_id = value_of(values, "GPU UUID");
  gpu.vbios = value_of(values, "Video BIOS");
  gpu.pcie = read_link(files, "/sys/bus/pci/devices/" + address);
  if (const auto node = files.integer("/sys/bus/pci/devices/" + address + "/numa_node"); node && *node >= 0) gpu.numa_node = node;
  return gpu;
}

}  // namespace

std::optional<double> parse_link_speed(const std::string& text) {
  const auto words = core::split_words(text);
  if (words.size() < 2 || words[1] != "GT/s") return std::nullopt;
  const auto speed = core::parse_f64(words[0]);
  return speed && *speed > 0 ? std::optional(*speed * 1e9) : std::nullopt;
}

std::vector<AmdDevice> find_amd_devices(const std::string& root) {
  const MachineFiles files(root);
  std::vector<std::pair<std::int64_t, AmdDevice>> found;  // card number first
  for (const std::string& name : files.names(kDrm)) {
    const auto card = inventory::number_after(name, "card");
    const std::string folder = std::string(kDrm) + "/" + name + "/device";
    if (!card) continue;
    const auto uevent = keyed_lines(files.text_or_empty(folder + "/uevent"), '=');
    const bool amd = files.text_or_empty(folder + "/vendor") == "0x1002";
    const std::string driver = value_of(uevent, "DRIVER");
    if (!amd || (!driver.empty() && driver != "amdgpu")) continue;
    found.push_back({*card, {0, folder, hwmon_of(files, folder), value_of(uevent, "PCI_SLOT_NAME")}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.pci_address, a.first) < std::tie(b.second.pci_address, b.first);
  });
  std::vector<AmdDevice> devices;
  for (auto& [card, device] : found) {
    device.index = static_cast<std::int64_t>(devices.size());
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<GpuInfo> read_gpus(const std::string& root) {
  const MachineFiles files(root);
  std::vector<GpuInfo> gpus;
  const auto nodes = read_kfd_nodes(files);
  for (const AmdDevice& device : find_amd_devices(root)) gpus.push_back(read_amd(files, device, nodes));
  for (const std::string& address : files.names("/proc/driver/nvidia/gpus")) gpus.push_back(read_nvidia(files, address));
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].index = static_cast<std::int64_t>(i);
  return gpus;
}

}  // namespace aaco::hardware
