#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "hardware/device.h"

namespace aaco::hardware {

// The devices that came with the program (share/data/hardware) and the user's own (REGISTRY/hardware), which win by id.
class DeviceRegistry {
 public:
  // Reads every *.yaml below both folders. An entry that does not fit the schema, an id or alias that two entries claim: an error
  // that names file and line. Missing folders: not_found for the shipped one, nothing for the user's.
  static core::Result<DeviceRegistry> load(const core::Paths& paths);
  // Of these names, as find() takes them, reading in full only the entries that hold one: find() answers each as that of load()
  // does, but for the errors and for words of a name.
  static core::Result<DeviceRegistry> load_some(const core::Paths& paths, const std::vector<std::string>& names);
  // One device so: a tenth of the time. The errors are those of load() and find().
  static core::Result<Device> load_one(const core::Paths& paths, std::string_view name);
  // Of these devices; for tests and for callers with entries of their own.
  static core::Result<DeviceRegistry> of(std::vector<Device> devices);

  [[nodiscard]] const std::map<std::string, Device>& devices() const { return devices_; }
  // By id or alias, letter case and punctuation aside; "ID@STATE" or a state's alias answers the device in that power state. Else
  // the only device of that target, or with all these words in its id or a name ("9754"); the error lists several, or what is
  // near.
  [[nodiscard]] core::Result<Device> find(std::string_view name) const;
  // What a driver or a trace knows of a device: the device of that name, else the only one of those the name lists, of that
  // target, or with the words of the name, which has these units and this memory (itself, or one of the devices its board is
  // shown as); several or none: the error lists them.
  struct Seen {
    std::string name;    // "AMD Instinct MI300X VF", "gfx942"
    std::string target;  // "gfx942", may be empty
    std::optional<double> units, memory_bytes;
  };
  [[nodiscard]] core::Result<Device> match(const Seen& seen) const;
  // The id (with "@STATE") a name stands for; empty where there is none.
  [[nodiscard]] std::string id_of(std::string_view name) const;

 private:
  core::Status add(Device device);
  std::map<std::string, Device> devices_;
  std::map<std::string, std::string> names_;  // folded name -> id or id@state
  bool complete_ = true;                      // not some entries of many, where one with all words may not be the only one
};

// One entry from YAML; `name` stands in messages.
core::Result<Device> parse_device(std::string_view text, const std::string& name);
core::Result<Device> load_device(const std::string& path);

// The device in one of its power states: clocks, units, power and memory speed as the state has them; peaks are then computed,
// not the published ones. Not found: the error lists the states.
core::Result<Device> in_state(const Device& device, std::string_view state);

// Where an entry contradicts itself or the arithmetic of its figures; empty: nothing found. What is not published is not checked.
struct Violation {
  std::string rule;   // "peak", "sparse", "bandwidth", "power", "order"
  std::string where;  // "FILE:LINE" of the part that is wrong
  std::string text;
};
std::vector<Violation> check_invariants(const Device& device);
// Peak figures and bandwidths may be rounded this much by those who publish them.
inline constexpr double kPeakTolerance = 0.02;
inline constexpr double kBandwidthTolerance = 0.03;

// Everything wrong with a set of entries, not only the first thing: what does not fit the schema, contradicts itself, or claims a
// name that another entry has.
struct Problem {
  std::string rule;   // a Violation's, or "schema", "name"
  std::string where;  // "FILE:LINE"
  std::string text;
  std::string remedy;  // may be empty
};
struct Audit {
  std::size_t shipped = 0, own = 0;  // files read
  std::vector<Problem> problems;
};
// The registry as DeviceRegistry::load() reads it. Fails only where a folder cannot be read.
core::Result<Audit> audit_registry(const core::Paths& paths);
// These files alone, counted as one's own.
core::Result<Audit> audit_files(const std::vector<std::string>& files);

core::Json to_json(const Device& device);
// The entry as a file of the registry, which parse_device() reads back to the same figures.
std::string to_yaml(const Device& device);

}  // namespace aaco::hardware
