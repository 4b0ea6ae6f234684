#include "laboratory/faults/limit.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/cpu_set.h"
#include "core/files.h"
#include "core/strings.h"
#include "hardware/cgroup.h"
#include "hardware/controller_group.h"
#include "laboratory/faults/neighbour.h"
#include "laboratory/undo.h"

namespace aaco::laboratory::faults {
namespace {

using core::ErrorCode;

constexpr double kMinShare = 0.1;                             // of the CPUs that remains at full intensity
constexpr std::int64_t kPeriodUs = 100'000;                   // the kernel's own default
constexpr std::int64_t kRoomBytes = std::int64_t{512} << 20;  // above what is in use, at no intensity

undo::World undo_world(const FaultWorld& world) { return {world.root, world.journal_folder}; }

// A control group made for this process; the journal removes it.
class Group final : public Injection {
 public:
  explicit Group(undo::Journal journal) : journal_(std::move(journal)) {}

 private:
  undo::Journal journal_;
};

core::Result<std::unique_ptr<Injection>> enter_group(const std::string& parent, const std::vector<undo::Setting>& settings,
                                                     const FaultWorld& world) {
  AACO_ASSIGN(auto journal, undo::Journal::open(undo_world(world), "a fault injection"));
  const std::string self = std::to_string(::getpid());
  AACO_ASSIGN(const std::string folder, journal.make_group(parent, parent, "aaco-fault-" + self, settings));
  if (const auto joined = undo::write_control(core::join_path(folder, "cgroup.procs"), self); !joined)
    return core::fail(ErrorCode::unsupported, "cannot move the process into the cgroup: " + joined.error().message,
                      "run as root, or in a delegated cgroup");
  return std::unique_ptr<Injection>(std::make_unique<Group>(std::move(journal)));
}

core::Result<std::unique_ptr<Injection>> set_quota(const Fault& fault, const FaultWorld& world) {
  const hardware::Cgroup group = hardware::find_cgroup(world.root, 0);
  if (group.cpu_folder.empty()) return core::fail(ErrorCode::unsupported, "no cpu cgroup is mounted, so no quota can be set");
  const double share = 1 - (1 - kMinShare) * fault.intensity;
  const auto cpus = static_cast<double>(std::max<std::size_t>(1, core::allowed_cpus().size()));
  const std::string quota = std::to_string(std::lround(share * cpus * static_cast<double>(kPeriodUs)));
  // The largest weight: what holds the run back is to be the quota, not whoever else wants the CPUs.
  if (group.version == 2)
    return enter_group(group.cpu_folder, {{"cpu.max", quota + " " + std::to_string(kPeriodUs)}, {"cpu.weight", "10000"}}, world);
  return enter_group(group.cpu_folder,
                     {{"cpu.cfs_period_us", std::to_string(kPeriodUs)}, {"cpu.cfs_quota_us", quota}, {"cpu.shares", "262144"}},
                     world);
}

// No thread can leave a set of CPUs, whatever affinity it chooses.
core::Result<std::unique_ptr<Injection>> set_cpus(const FaultWorld& world) {
  const std::vector<int> cpus = core::allowed_cpus();
  if (cpus.size() < 2)
    return core::fail(ErrorCode::unsupported, "this process already has a single CPU, so restricting it has no effect");
  const auto group = hardware::find_controller(world.root, 0, "cpuset");
  if (!group)
    return core::fail(ErrorCode::unsupported, "no cpuset cgroup is mounted",
                      "use --generator mask to restrict the affinity instead");
  std::vector<undo::Setting> settings = {{"cpuset.cpus", std::to_string(cpus.front())}};
  if (group->version == 1) {
    const auto memory = core::read_file(core::join_path(world.root, group->folder.substr(1) + "/cpuset.mems"));
    if (!memory) return core::fail(ErrorCode::unsupported, "cannot read cpuset.mems of the cgroup");
    settings.push_back({"cpuset.mems", std::string(core::trim(*memory))});
  }
  return enter_group(group->folder, settings, world);
}

core::Result<std::unique_ptr<Injection>> limit_memory(const Fault& fault, const FaultWorld& world) {
  const hardware::Cgroup group = hardware::find_cgroup(world.root, 0);
  if (group.memory_folder.empty())
    return core::fail(ErrorCode::unsupported, "no memory cgroup is mounted, so no limit can be set");
  const auto swaps = core::read_file(core::join_path(world.root, "proc/swaps"));
  if (!swaps) return core::fail(ErrorCode::unsupported, "cannot read /proc/swaps, so swapping cannot be ruled out");
  const auto limit = static_cast<std::int64_t>((1 - 0.9 * fault.intensity) * static_cast<double>(kRoomBytes)) + kRoomBytes / 4;
  const bool second = group.memory_version == 2;
  std::vector<undo::Setting> settings = {{second ? "memory.max" : "memory.limit_in_bytes", std::to_string(limit)}};
  const bool has_swap = std::count(swaps->begin(), swaps->end(), '\n') > 1;
  if (second)
    settings.push_back({"memory.swap.max", "0"});
  else if (has_swap)
    settings.push_back({"memory.memsw.limit_in_bytes", std::to_string(limit)});
  return enter_group(group.memory_folder, settings, world);
}

}  // namespace

core::Result<std::unique_ptr<Injection>> set_limit(const Fault& fault, const FaultWorld& world) {
  if (fault.kind->id == "affinity_one_core") return fault.generator == "cpuset" ? set_cpus(world) : start_neighbours(fault);
  return fault.kind->id == "cpu_quota" ? set_quota(fault, world) : limit_memory(fault, world);
}

core::Result<std::int64_t> clean_up(const FaultWorld& world) {
  AACO_ASSIGN(const auto restored, undo::restore_dead(undo_world(world)));
  if (!restored.left.empty())
    return core::fail(ErrorCode::io, "a change left by a fault injection could not be undone: " + restored.left.front(),
                      "processes may still be in the cgroup; run 'aaco capsule restore' to retry");
  return restored.undone;
}

}  // namespace aaco::laboratory::faults
