#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/undo.h"

// Isolation: what keeps the rest of the machine out of a measurement, as far as this machine lets it be set. Everything is put
// back.
namespace aaco::laboratory::capsule {

// Something that can be set.
struct SwitchInfo {
  std::string_view id;      // "affinity"
  std::string_view title;   // what it does
  std::string_view values;  // what may be asked of it, for people
};
// In the order they are set.
const std::vector<SwitchInfo>& switches();

using Settings = std::map<std::string, std::string>;  // switch -> value

struct Level {
  std::string id, title;
  Settings settings;
};

// data/isolation/levels.yaml
class LevelBook {
 public:
  // Refuses an unknown switch, a value that the switch does not have, a level that stands twice.
  static core::Result<LevelBook> load(const std::string& path);
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }

 private:
  std::vector<Level> levels_;
};

struct Wanted {
  std::string level;  // for people; empty: by switches alone
  Settings settings;
  bool for_child = false;      // what is measured is started from here later, so that its memory cannot be locked from here
  std::optional<int> threads;  // of what is measured, where that is known
};
// A level (or "" or "none") with changes ("nice=-5"; "boost=" leaves it as it is). invalid_argument with what is near.
core::Result<Wanted> make_wanted(const LevelBook& book, std::string_view level, const std::vector<std::string>& changes);

struct Set {
  std::string id, value;
  std::string detail;  // "CPU 1; was 0-1"
};
struct NotSet {
  std::string id, value, reason, remedy;
};

// This process, and what it starts, under isolation. To be entered before the process has threads: they inherit it.
class Capsule {
 public:
  // Sets what can be set and lists the rest. Fails only where the journal of changes cannot be kept.
  static core::Result<std::unique_ptr<Capsule>> enter(const Wanted& wanted, const undo::World& world);
  virtual ~Capsule() = default;  // leaves

  [[nodiscard]] virtual const std::vector<Set>& set() const = 0;
  [[nodiscard]] virtual const std::vector<NotSet>& not_set() const = 0;
  // How many CPUs there are inside, where the affinity was set.
  [[nodiscard]] virtual std::optional<int> cpus() const = 0;
  // This process goes back outside; what it started stays in.
  virtual void step_out() = 0;
  // Puts everything back. What could not be put back is in the journal for the next start.
  virtual core::Status leave() = 0;
};

// What was set as one text, "affinity=1;aslr=off": equal texts are equal isolation. Empty where nothing was set.
std::string isolation_text(const std::vector<Set>& set);
core::Json to_json(const std::vector<Set>& set, const std::vector<NotSet>& not_set, std::string_view level);

// Addresses of a process are laid out when it begins: to measure without randomised ones this process must begin again. Does not
// return where that works; answers otherwise, and when the process runs without randomisation already.
void restart_without_aslr(const std::vector<std::string>& command_line);

}  // namespace aaco::laboratory::capsule
