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

// Isolation: settings that shield a measurement from the rest of the machine, as far as the machine supports them. All are
// restored.
namespace aaco::laboratory::capsule {

// An isolation setting.
struct SwitchInfo {
  std::string_view id;      // "affinity"
  std::string_view title;   // what it does
  std::string_view values;  // valid values, for display
};
// In the order of application.
const std::vector<SwitchInfo>& switches();

using Settings = std::map<std::string, std::string>;  // switch -> value

struct Level {
  std::string id, title;
  Settings settings;
};

// data/isolation/levels.yaml
class LevelBook {
 public:
  // Refuses unknown switches, invalid values and duplicate levels.
  static core::Result<LevelBook> load(const std::string& path);
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }

 private:
  std::vector<Level> levels_;
};

struct Wanted {
  std::string level;  // for display; empty: switches only
  Settings settings;
  bool for_child = false;      // the measured program is started later, so its memory cannot be locked here
  std::optional<int> threads;  // of the measured program, if known
};
// A level (or "" or "none") with changes ("nice=-5"; "boost=" leaves boost unset). invalid_argument suggests near names.
core::Result<Wanted> make_wanted(const LevelBook& book, std::string_view level, const std::vector<std::string>& changes);

struct Set {
  std::string id, value;
  std::string detail;  // "CPU 1; was 0-1"
};
struct NotSet {
  std::string id, value, reason, remedy;
};

// Isolation of this process and its children. Enter before the process has threads: they inherit it.
class Capsule {
 public:
  // Applies the supported settings and lists the others. Fails only if the change journal cannot be written.
  static core::Result<std::unique_ptr<Capsule>> enter(const Wanted& wanted, const undo::World& world);
  virtual ~Capsule() = default;  // leaves

  [[nodiscard]] virtual const std::vector<Set>& set() const = 0;
  [[nodiscard]] virtual const std::vector<NotSet>& not_set() const = 0;
  // The number of isolated CPUs, if the affinity was set.
  [[nodiscard]] virtual std::optional<int> cpus() const = 0;
  // Moves this process out of isolation; its children stay isolated.
  virtual void step_out() = 0;
  // Restores everything. Failed restores stay in the journal for the next start.
  virtual core::Status leave() = 0;
};

// The applied settings as text, "affinity=1;aslr=off": equal texts mean equal isolation. Empty if none were applied.
std::string isolation_text(const std::vector<Set>& set);
core::Json to_json(const std::vector<Set>& set, const std::vector<NotSet>& not_set, std::string_view level);

// Address randomisation applies at process start: to measure without it, this process must be restarted. Does not
// return on success; returns otherwise, and if the process already runs without randomisation.
void restart_without_aslr(const std::vector<std::string>& command_line);

}  // namespace aaco::laboratory::capsule
