#include "workflows/hardware.h"

#include "core/clock.h"
#include "core/files.h"
#include "hardware/die.h"
#include "hardware/probe.h"
#include "workflows/devices/gpu_entry.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kThis = "this";

std::string path_of(const std::string& id, const Services& services) {
  return core::join_path(core::join_path(services.paths.registry, "hardware"), id + ".yaml");
}

hardware::DeviceRegistry::Seen seen_of(const hardware::GpuInfo& gpu) {
  hardware::DeviceRegistry::Seen seen{gpu.name, gpu.architecture, {}, {}};
  if (gpu.compute_units) seen.units = static_cast<double>(*gpu.compute_units);
  if (gpu.memory_bytes) seen.memory_bytes = static_cast<double>(*gpu.memory_bytes);
  return seen;
}

std::vector<std::string> known_gpus(const hardware::Inventory& inventory, const hardware::DeviceRegistry& registry) {
  std::vector<std::string> lines;
  for (const hardware::GpuInfo& gpu : inventory.gpus) {
    const auto found = registry.match(seen_of(gpu));
    lines.push_back("GPU " + std::to_string(gpu.index) + ", " + gpu.name +
                    (found ? " (" + found->id + ")" : ": " + found.error().message));
  }
  return lines;
}

// An entry with the names that others have already taken would keep the whole registry from loading.
core::Status check_with_others(const hardware::Device& device, const Services& services) {
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  std::vector<hardware::Device> all{device};
  for (const auto& [id, other] : registry.devices())
    if (id != device.id) all.push_back(other);
  const auto together = hardware::DeviceRegistry::of(std::move(all));
  if (!together) return tl::unexpected<core::Error>(together.error());
  return {};
}

}  // namespace

core::Result<hardware::Device> find_device(const std::string& name, const Services& services) {
  AACO_ASSIGN(const hardware::Device entry, find_entry(name, services));
  return hardware::as_shown(entry);
}

core::Result<hardware::Device> find_entry(const std::string& name, const Services& services) {
  if (name != kThis) return hardware::DeviceRegistry::load_one(services.paths, name);
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  const auto inventory = hardware::take_inventory("/", services.environment);
  const std::string id = hardware::id_of_processor(inventory);
  if (!registry.id_of(id).empty()) return registry.find(id);
  if (!registry.id_of(inventory.cpu.model).empty()) return registry.find(inventory.cpu.model);
  return core::fail(core::ErrorCode::not_found,
                    "this machine's CPU (" + inventory.cpu.model + ", " + id + ") is not in the hardware registry",
                    "run 'aaco hardware probe' to measure it");
}

core::Result<hardware::Device> find_own_device(bool gpu, const Services& services) {
  if (!gpu) return find_device(std::string(kThis), services);
  const auto inventory = hardware::take_inventory("/", services.environment);
  if (inventory.gpus.empty())
    return core::fail(core::ErrorCode::not_found, "no GPU found on this machine", "'aaco doctor' shows what is missing");
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  AACO_ASSIGN(const hardware::Device device, registry.match(seen_of(inventory.gpus.front())));
  return hardware::as_shown(device);
}

core::Result<hardware::Device> find_seen_gpu(const laboratory::GpuFacts& facts, const Services& services) {
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  hardware::DeviceRegistry::Seen seen{facts.name, facts.target, {}, {}};
  if (facts.units) seen.units = static_cast<double>(*facts.units);
  if (facts.memory_bytes) seen.memory_bytes = static_cast<double>(*facts.memory_bytes);
  auto device = registry.match(seen);
  if (!device && device.error().code == core::ErrorCode::not_found)
    return core::fail(core::ErrorCode::not_found,
                      "this GPU (" + facts.name + ") is not in the hardware registry: " + device.error().message,
                      "'aaco hardware probe --backend cuda' (or hip) measures it and writes its entry");
  AACO_TRY(device);
  return hardware::as_shown(*device);
}

core::Result<std::vector<DeviceLine>> list_devices(const std::string& kind, const Services& services) {
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  const std::string own = core::join_path(services.paths.registry, "hardware");
  std::vector<DeviceLine> lines;
  for (const auto& [id, device] : registry.devices())
    if (kind.empty() || to_string(device.kind) == kind) lines.push_back({device, device.where.starts_with(own)});
  return lines;
}

core::Result<hardware::Audit> check_hardware(const std::vector<std::string>& files, const Services& services) {
  if (!files.empty()) return hardware::audit_files(files);
  return hardware::audit_registry(services.paths);
}

core::Result<ProbeOutcome> write_entry(ProbeOutcome outcome, bool dry_run, const Services& services) {
  AACO_TRY(check_with_others(outcome.device, services));
  if (dry_run) return outcome;
  outcome.path = path_of(outcome.device.id, services);
  outcome.replaced = core::exists(outcome.path);
  AACO_TRY(core::write_file_atomic(outcome.path, to_yaml(outcome.device)));
  return outcome;
}

core::Result<ProbeOutcome> probe_hardware(const ProbeRequest& request, const Services& services) {
  if (!request.backend.empty()) return probe_gpu(request, services);
  if (!request.dry_run)
    AACO_TRY(core::make_writable_folder(core::join_path(services.paths.registry, "hardware"), "AACO_REGISTRY"));
  const auto inventory = hardware::take_inventory("/", services.environment);
  services.progress("measuring this CPU: FMA throughput, memory bandwidth, caches");
  hardware::ProbeOptions options;
  options.memory_bytes = request.memory_bytes;
  AACO_ASSIGN(const auto measured, hardware::measure_processor(options, inventory));
  const std::string date = core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime)).substr(0, 10);
  ProbeOutcome outcome;
  outcome.device = hardware::device_of(inventory, measured, date);
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  outcome.known = known_gpus(inventory, registry);
  return write_entry(std::move(outcome), request.dry_run, services);
}

core::Json to_json(const hardware::Audit& audit) {
  core::Json problems = core::Json::array();
  for (const hardware::Problem& problem : audit.problems) {
    core::Json one = core::Json::object({{"rule", problem.rule}, {"where", problem.where}, {"text", problem.text}});
    if (!problem.remedy.empty()) one.set("remedy", problem.remedy);
    problems.push(std::move(one));
  }
  return core::Json::object(
      {{"schema_version", 1}, {"shipped", audit.shipped}, {"own", audit.own}, {"problems", std::move(problems)}});
}

}  // namespace aaco::workflows
