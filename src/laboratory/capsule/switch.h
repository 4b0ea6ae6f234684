#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/cpu_set.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/result.h"
#include "laboratory/capsule.h"
#include "laboratory/undo.h"

namespace aaco::laboratory::capsule {

// A control group of ours under way: made when the first switch needs it, joined when all have set what they want.
struct OwnGroup {
  std::string home;    // where this process was, below the root
  std::string folder;  // whole path
  std::vector<std::string> switches;
};

// What the switches share while a capsule is entered.
struct Work {
  Wanted wanted;
  undo::World world;
  undo::Journal* journal = nullptr;
  std::vector<int> allowed, inside;             // CPUs: of this process before, of the capsule
  std::map<std::string, OwnGroup> groups;       // by home
  std::vector<core::FileDescriptor> held;       // released at the end
  std::vector<std::function<void()>> step_out;  // puts this process back, last first

  // An absolute path of the machine, in this world.
  [[nodiscard]] std::string below(const std::string& path) const { return core::join_path(world.root, path.substr(1)); }
};

struct Switch {
  SwitchInfo info;
  core::Status (*check)(const std::string& value);  // invalid_argument with what it takes
  // Sets it; answers what is worth saying of it ("was powersave").
  core::Result<std::string> (*apply)(const std::string& value, Work& work);
};
const std::vector<Switch>& all_switches();

// Of this process.
core::Result<std::string> set_affinity(const std::string& value, Work& work);
core::Result<std::string> set_nice(const std::string& value, Work& work);
core::Result<std::string> set_fifo(const std::string& value, Work& work);
core::Result<std::string> set_aslr(const std::string& value, Work& work);
core::Result<std::string> lock_memory(const std::string& value, Work& work);
// Of the machine.
core::Result<std::string> set_huge_pages(const std::string& value, Work& work);
core::Result<std::string> set_governor(const std::string& value, Work& work);
core::Result<std::string> set_boost(const std::string& value, Work& work);
core::Result<std::string> set_idle(const std::string& value, Work& work);
core::Result<std::string> set_gpu_clocks(const std::string& value, Work& work);
// By control groups.
core::Result<std::string> set_cpu_weight(const std::string& value, Work& work);
core::Result<std::string> set_cpuset(const std::string& value, Work& work);
core::Result<std::string> set_memory_limit(const std::string& value, Work& work);
// Puts this process into the groups made; answers the switches of those it could not join, with the reason.
std::vector<std::pair<std::string, core::Error>> join_groups(Work& work);

// The CPUs of "all", "spare", "one" or a list "1,3-5", of those allowed. invalid_argument where it is none of that; unsupported
// where none is left.
core::Result<std::vector<int>> cpus_of(const std::string& value, const std::vector<int>& allowed, const std::string& root);

}  // namespace aaco::laboratory::capsule
