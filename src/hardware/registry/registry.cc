#include "hardware/registry.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "hardware/die.h"
#include "hardware/registry/entry_files.h"
#include "hardware/registry/names.h"

namespace aaco::hardware {
namespace {

using core::ErrorCode;
using core::fail;
using registry::asked_words;
using registry::begins_a_word;
using registry::fold;
using registry::has_words;
using registry::is_named_in;

core::Result<std::vector<Device>> read_folder(const std::string& folder) {
  AACO_ASSIGN(const std::vector<std::string> files, registry::entry_files(folder));
  std::vector<Device> devices;
  for (const std::string& file : files) {
    AACO_ASSIGN(Device device, load_device(file));
    devices.push_back(std::move(device));
  }
  return devices;
}

void scale(std::optional<Figure>& figure, const std::optional<Figure>& replacement) {
  if (figure && replacement) figure = replacement;
}

// The part of the memory and of what dies do not share that one of them has.
void cut_to_one_die(Device& device) {
  const std::int64_t dies = device.execution.dies.value_or(1);
  if (dies < 2) return;
  if (device.memory.bytes) device.memory.bytes->value /= static_cast<double>(dies);
  if (device.memory.usable_bytes) device.memory.usable_bytes->value /= static_cast<double>(dies);
  device.memory.bus_bits.reset();
  for (MemoryLevel& level : device.memory_levels)
    if (level.instances % dies == 0) {
      level.instances /= dies;
      if (level.bytes_per_s) level.bytes_per_s->value /= static_cast<double>(dies);
    }
  device.execution.dies = 1;
}

// Units and memory as a driver reports them of the device or, for a board of several, of one of them.
bool has_counts(const Device& device, const DeviceRegistry::Seen& seen) {
  constexpr double kMemoryTolerance = 0.1;  // drivers report what firmware leaves
  if (seen.units && device.units() && *device.units() != *seen.units) return false;
  return !seen.memory_bytes || !device.memory.bytes ||
         std::abs(device.memory.bytes->value - *seen.memory_bytes) <= kMemoryTolerance * device.memory.bytes->value;
}

std::string list_of(const std::vector<const Device*>& devices) {
  std::vector<std::string> ids;
  ids.reserve(devices.size());
  for (const Device* device : devices) ids.push_back(device->id);
  return core::join(ids, ", ");
}

}  // namespace

core::Result<Device> in_state(const Device& device, std::string_view name) {
  std::vector<std::string> names;
  for (const PowerState& state : device.power.states) {
    names.push_back(state.name);
    if (fold(state.name) != fold(name)) continue;
    Device result = device;
    result.state = state.name;
    for (Engine& engine : result.engines) {
      scale(engine.clock_hz, state.clock_hz);
      scale(engine.units, state.units);
      for (EngineRate& rate : engine.rates) {
        if (engine.units && engine.clock_hz && rate.ops_per_clock) rate.peak_ops_per_s.reset();
        rate.sparse_ops_per_s.reset();
      }
    }
    scale(result.memory.bytes_per_s, state.memory_bytes_per_s);
    if (state.memory_bytes_per_s) result.memory.transfers_per_s.reset();
    if (state.watts) result.power.board_watts = state.watts;
    if (state.name == kOneDie) cut_to_one_die(result);
    return result;
  }
  return fail(ErrorCode::not_found, device.id + " has no power state '" + std::string(name) + "'",
              names.empty() ? "it has no power states" : "its power states: " + core::join(names, ", "));
}

core::Result<Device> as_shown(const Device& device) {
  const auto& states = device.power.states;
  const bool dies = std::any_of(states.begin(), states.end(), [](const PowerState& state) { return state.name == kOneDie; });
  return dies && device.state.empty() ? in_state(device, kOneDie) : device;
}

core::Status DeviceRegistry::add(Device device) {
  const std::string id = device.id;
  const auto claim = [&](const std::string& name, const std::string& target) -> core::Status {
    const auto [place, added] = names_.emplace(fold(name), target);
    if (added || place->second == target) return {};
    return fail(ErrorCode::invalid_input,
                device.where + ": the name '" + name + "' is used for both " + place->second + " and " + target,
                "a name must identify one device: remove it from one of the entries");
  };
  AACO_TRY(claim(id, id));
  AACO_TRY(claim(device.name, id));
  for (const std::string& alias : device.aliases) AACO_TRY(claim(alias, id));
  for (const PowerState& state : device.power.states)
    for (const std::string& alias : state.aliases) AACO_TRY(claim(alias, id + "@" + state.name));
  devices_.emplace(id, std::move(device));
  return {};
}

core::Result<DeviceRegistry> DeviceRegistry::of(std::vector<Device> devices) {
  DeviceRegistry registry;
  for (Device& device : devices) {
    if (registry.devices_.contains(device.id))
      return fail(ErrorCode::invalid_input,
                  device.where + ": duplicate id '" + device.id + "', also in " + registry.devices_.at(device.id).where);
    AACO_TRY(registry.add(std::move(device)));
  }
  return registry;
}

core::Result<DeviceRegistry> DeviceRegistry::load(const core::Paths& paths) {
  AACO_TRY(registry::require_shipped(paths));
  AACO_ASSIGN(std::vector<Device> devices, read_folder(registry::shipped_folder(paths)));
  const std::string users = registry::own_folder(paths);
  if (core::is_directory(users)) {
    AACO_ASSIGN(std::vector<Device> own, read_folder(users));
    for (Device& device : own) {
      std::erase_if(devices, [&](const Device& other) { return other.id == device.id; });
      devices.push_back(std::move(device));
    }
  }
  return of(std::move(devices));
}

core::Result<DeviceRegistry> DeviceRegistry::load_some(const core::Paths& paths, const std::vector<std::string>& names) {
  std::vector<std::string> wanted;
  for (const std::string_view name : names)
    if (std::string folded = fold(name.substr(0, name.find('@'))); !folded.empty()) wanted.push_back(std::move(folded));
  std::vector<Device> own, shipped;
  for (const bool users : {true, false}) {
    const std::string folder = users ? registry::own_folder(paths) : registry::shipped_folder(paths);
    if (wanted.empty() || !core::is_directory(folder)) continue;
    AACO_ASSIGN(const std::vector<std::string> files, registry::entry_files(folder));
    for (const std::string& file : files) {
      const auto text = core::read_file(file);
      if (!text) continue;  // for load() to name
      // Every entry of the user's is read: its id may be that of a shipped one.
      const std::string folded = users ? std::string() : fold(*text);
      const auto holds = [&](const std::string& name) { return folded.find(name) != std::string::npos; };
      if (!users && std::none_of(wanted.begin(), wanted.end(), holds)) continue;
      AACO_ASSIGN(Device device, parse_device(*text, file));
      (users ? own : shipped).push_back(std::move(device));
    }
  }
  for (Device& device : shipped)
    if (std::none_of(own.begin(), own.end(), [&](const Device& other) { return other.id == device.id; }))
      own.push_back(std::move(device));
  AACO_ASSIGN(DeviceRegistry some, of(std::move(own)));
  some.complete_ = false;
  return some;
}

core::Result<Device> DeviceRegistry::load_one(const core::Paths& paths, std::string_view name) {
  if (const auto few = load_some(paths, {std::string(name)}))
    if (auto found = few->find(name)) return found;
  AACO_ASSIGN(const DeviceRegistry all, load(paths));
  return all.find(name);
}

std::string DeviceRegistry::id_of(std::string_view name) const {
  if (const auto found = names_.find(fold(name)); found != names_.end()) return found->second;
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return {};
  const auto found = names_.find(fold(name.substr(0, at)));
  if (found == names_.end() || found->second.find('@') != std::string::npos) return {};
  for (const PowerState& state : devices_.at(found->second).power.states)
    if (fold(state.name) == fold(name.substr(at + 1))) return found->second + "@" + state.name;
  return {};
}

core::Result<Device> DeviceRegistry::find(std::string_view name) const {
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos && id_of(name).empty() && !id_of(name.substr(0, at)).empty()) {
    AACO_ASSIGN(const Device device, find(name.substr(0, at)));
    return in_state(device, name.substr(at + 1));
  }
  const std::string id = id_of(name);
  if (!id.empty()) {
    const std::size_t state = id.find('@');
    const Device& device = devices_.at(id.substr(0, state));
    if (state == std::string::npos) return device;
    return in_state(device, id.substr(state + 1));
  }
  std::vector<const Device*> meant;
  std::vector<std::string_view> known;
  for (const auto& [key, device] : devices_) {
    if (!device.target.empty() && fold(device.target) == fold(name)) meant.push_back(&device);
  }
  const std::set<std::string> words = asked_words(name);
  if (complete_ && meant.empty() && !words.empty())
    for (const auto& [key, device] : devices_)
      if (has_words(device, words)) meant.push_back(&device);
  std::vector<const Device*> named;  // more was asked than the name that stands in it: never taken as found
  for (const auto& [key, device] : devices_)
    if (is_named_in(device, words)) named.push_back(&device);
  if (meant.empty() && named.size() > 1) meant = named;
  if (meant.size() == 1) return *meant.front();
  if (!meant.empty())
    return fail(ErrorCode::invalid_argument, "'" + std::string(name) + "' matches several devices: " + list_of(meant),
                "choose one of them");
  std::vector<const Device*> alike = named;
  if (alike.empty() && words.size() == 1)
    for (const auto& [key, device] : devices_)
      if (begins_a_word(device, *words.begin())) alike.push_back(&device);
  std::string near = core::replace_all(list_of(alike), ", ", "' or '");
  if (near.empty()) {
    for (const auto& [folded, target] : names_) known.push_back(folded);
    const auto nearest = core::nearest(fold(name), known);
    if (!nearest.empty()) near = names_.find(std::string(nearest))->second;
  }
  return fail(ErrorCode::not_found, "unknown device '" + std::string(name) + "'",
              (near.empty() ? "" : "did you mean '" + near + "'? ") +
                  "`aaco hardware ls` lists the devices; see docs/hardware.md for how to add one");
}

core::Result<Device> DeviceRegistry::match(const Seen& seen) const {
  if (!seen.name.empty() && !id_of(seen.name).empty()) return find(seen.name);
  const std::string target = fold(seen.target.empty() ? seen.name : seen.target);
  const std::set<std::string> words = asked_words(seen.name);
  std::vector<const Device*> of_target, named;
  for (const auto& [id, device] : devices_) {
    const bool same = !device.target.empty() && fold(device.target) == target;
    if (same) of_target.push_back(&device);
    if ((same || seen.target.empty()) && is_named_in(device, words)) named.push_back(&device);
  }
  // A name that lists devices goes before the target; one that no entry has in full may be words of some.
  std::vector<const Device*>& pool = named.size() > 1 ? named : of_target;
  if (pool.empty() && !words.empty())
    for (const auto& [id, device] : devices_)
      if (has_words(device, words)) pool.push_back(&device);
  std::vector<const Device*> fitting;
  for (const Device* device : pool)
    if (has_counts(*device, seen)) fitting.push_back(device);
  if (fitting.empty())
    for (const Device* device : pool)
      if (const auto shown = as_shown(*device); shown && has_counts(*shown, seen)) fitting.push_back(device);
  if (fitting.size() == 1) return *fitting.front();
  const std::string what =
      "'" + seen.name + (seen.target.empty() ? "" : "' (" + seen.target + ")") + (seen.target.empty() ? "'" : "");
  if (fitting.empty())
    return fail(ErrorCode::not_found, "no registry entry matches " + what, "`aaco hardware ls` lists the devices");
  return fail(ErrorCode::invalid_argument, what + " matches several devices: " + list_of(fitting), "choose one of them");
}

}  // namespace aaco::hardware
