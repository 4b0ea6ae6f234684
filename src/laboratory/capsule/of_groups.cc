#include <unistd.h>

#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/controller_group.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;
using hardware::ControllerGroup;

std::string text_of(const Work& work, const std::string& path) {
  const auto text = core::read_file(work.below(path), 1 << 20);
  return text ? std::string(core::trim(*text)) : std::string();
}

core::Result<ControllerGroup> controller(const Work& work, const std::string& name) {
  auto group = hardware::find_controller(work.world.root, 0, name);
  if (!group) return core::fail(ErrorCode::unsupported, "no cgroup with the controller '" + name + "' is mounted");
  return *group;
}

// v2 keeps processes in leaves: the new group stands beside this process's own, below a parent that hands the controller down.
core::Result<std::string> parent_of(const Work& work, const ControllerGroup& home, const std::string& name) {
  if (home.version == 1 || home.folder == home.mount) return home.folder;
  const std::string parent = core::parent_path(home.folder);
  const std::string handed = text_of(work, parent + "/cgroup.subtree_control");
  const auto words = core::split_words(handed);
  if (std::find(words.begin(), words.end(), name) == words.end())
    return core::fail(
        ErrorCode::unsupported, parent + " does not delegate the controller '" + name + "' to its child cgroups",
        "echo +" + name + " > " + parent + "/cgroup.subtree_control, or 'systemd-run --scope -p Delegate=yes aaco ...'");
  return parent;
}

// The capsule's own group of this controller; made by the first switch that needs one in its hierarchy.
core::Result<OwnGroup*> own_group(Work& work, const ControllerGroup& home, const std::string& name,
                                  const std::string& wanted_by) {
  AACO_ASSIGN(const std::string parent, parent_of(work, home, name));
  const auto [entry, fresh] = work.groups.try_emplace(home.folder);
  OwnGroup& group = entry->second;
  if (fresh) {
    auto made = work.journal->make_group(parent, home.folder, "aaco-capsule-" + std::to_string(::getpid()), {});
    if (!made) {
      work.groups.erase(entry);
      return tl::unexpected<core::Error>(std::move(made.error()));
    }
    group.home = home.folder;
    group.folder = std::move(*made);
  }
  group.switches.push_back(wanted_by);
  return &group;
}

core::Status write(const OwnGroup& group, const std::string& file, const std::string& value) {
  if (auto written = undo::write_control(core::join_path(group.folder, file), value); !written)
    return core::fail(ErrorCode::unsupported, "the cgroup rejected " + file + " = " + value + ": " + written.error().message);
  return {};
}

}  // namespace

core::Result<std::string> set_cpu_weight(const std::string& value, Work& work) {
  AACO_ASSIGN(const ControllerGroup home, controller(work, "cpu"));
  AACO_ASSIGN(OwnGroup* const group, own_group(work, home, "cpu", "cpu_weight"));
  if (home.version == 2) {
    AACO_TRY(write(*group, "cpu.weight", value));
    return "cgroup v2, the default is 100";
  }
  // v1 counts in shares of which 1024 are usual, where v2 has a weight of 100.
  AACO_TRY(write(*group, "cpu.shares", std::to_string(*core::parse_i64(value) * 1024 / 100)));
  // A group of v1 has no time for fixed priorities unless it is given some: what the parent has, but a little.
  const auto runtime = core::parse_i64(text_of(work, home.folder + "/cpu.rt_runtime_us"));
  if (work.wanted.settings.contains("fifo") && runtime && *runtime > 0)
    AACO_TRY(write(*group, "cpu.rt_runtime_us", std::to_string(*runtime * 9 / 10)));
  return "cgroup v1, the default is 100";
}

core::Result<std::string> set_cpuset(const std::string&, Work& work) {
  AACO_ASSIGN(const ControllerGroup home, controller(work, "cpuset"));
  AACO_ASSIGN(OwnGroup* const group, own_group(work, home, "cpuset", "cpuset"));
  const std::string cpus = core::cpu_list(work.inside.empty() ? work.allowed : work.inside);
  if (home.version == 1) {
    std::string memory = text_of(work, home.folder + "/cpuset.effective_mems");
    if (memory.empty()) memory = text_of(work, home.folder + "/cpuset.mems");
    AACO_TRY(write(*group, "cpuset.mems", memory));
  }
  AACO_TRY(write(*group, "cpuset.cpus", cpus));
  return "CPU " + cpus;
}

core::Result<std::string> set_memory_limit(const std::string& value, Work& work) {
  AACO_ASSIGN(const ControllerGroup home, controller(work, "memory"));
  AACO_ASSIGN(OwnGroup* const group, own_group(work, home, "memory", "memory_limit"));
  const std::string bytes = std::to_string(*core::parse_bytes(value));
  AACO_TRY(write(*group, home.version == 2 ? "memory.max" : "memory.limit_in_bytes", bytes));
  return bytes + " bytes";
}

std::vector<std::pair<std::string, core::Error>> join_groups(Work& work) {
  std::vector<std::pair<std::string, core::Error>> outside;
  for (const auto& [home, group] : work.groups) {
    const std::string self = std::to_string(::getpid());
    if (const auto joined = undo::write_control(core::join_path(group.folder, "cgroup.procs"), self); !joined) {
      for (const std::string& id : group.switches)
        outside.emplace_back(id, core::Error{ErrorCode::unsupported,
                                             "cannot move the process into the cgroup: " + joined.error().message,
                                             "run as root, or in a delegated cgroup",
                                             {}});
      continue;
    }
    work.step_out.emplace_back(
        [procs = core::join_path(work.below(home), "cgroup.procs"), self] { (void)undo::write_control(procs, self); });
  }
  return outside;
}

}  // namespace aaco::laboratory::capsule
