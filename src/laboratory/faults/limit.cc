#include "laboratory/faults/limit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/files.h"
#include "core/handles.h"
#include "core/numbers.h"
#include "hardware/cgroup.h"
#include "laboratory/faults/neighbour.h"

namespace aaco::laboratory::faults {
namespace {

using core::ErrorCode;
using core::Json;

constexpr double kLeastShare = 0.1;                           // of the CPUs that remains at full intensity
constexpr std::int64_t kPeriodUs = 100'000;                   // the kernel's own default
constexpr std::int64_t kRoomBytes = std::int64_t{512} << 20;  // above what is in use, at no intensity

// Control files take one write and are never made.
core::Status write_control(const std::string& path, const std::string& text) {
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return core::fail_errno(errno, path);
  return {};
}

class Affinity final : public Injection {
 public:
  static core::Result<std::unique_ptr<Injection>> set() {
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() < 2)
      return core::fail(ErrorCode::unsupported, "this process has one CPU already, so its affinity cannot be narrowed");
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus.front(), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) return core::fail_errno(errno, "setting the affinity");
    return std::unique_ptr<Injection>(std::make_unique<Affinity>(cpus));
  }
  explicit Affinity(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;
  ~Affinity() override {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const int cpu : cpus_) CPU_SET(cpu, &all);
    ::sched_setaffinity(0, sizeof all, &all);
  }

 private:
  std::vector<int> cpus_;
};

// A control group made for this process. The journal names it before it is made, so that whoever comes after a kill removes it.
class Group final : public Injection {
 public:
  Group(std::string folder, std::string home, std::string journal)
      : folder_(std::move(folder)), home_(std::move(home)), journal_(std::move(journal)) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() override {
    (void)write_control(core::join_path(home_, "cgroup.procs"), std::to_string(::getpid()));
    if (::rmdir(folder_.c_str()) == 0 || errno == ENOENT) (void)core::remove_tree(journal_);
  }

 private:
  std::string folder_, home_, journal_;
};

struct Setting {
  std::string file, value;
};

core::Result<std::unique_ptr<Injection>> enter_group(const std::string& parent, const std::vector<Setting>& settings,
                                                     const FaultWorld& world) {
  const std::string home = core::join_path(world.root, std::string_view(parent).substr(1));
  const std::string name = "aaco-fault-" + std::to_string(::getpid());
  const std::string folder = core::join_path(home, name);
  const std::string journal = core::join_path(world.journal_folder, name + ".json");
  AACO_TRY(core::make_directories(world.journal_folder));
  AACO_TRY(core::write_file_atomic(
      journal, Json::object({{"process_id", static_cast<std::int64_t>(::getpid())}, {"group", folder}, {"home", home}}).dump()));
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    const int problem = errno;
    (void)core::remove_tree(journal);
    return core::fail(ErrorCode::unsupported, "no control group can be made in " + home + ": " + std::strerror(problem),
                      "run it as root, or in a delegated control group");
  }
  auto group = std::make_unique<Group>(folder, home, journal);
  const auto set = [&]() -> core::Status {
    for (const Setting& setting : settings) AACO_TRY(write_control(core::join_path(folder, setting.file), setting.value));
    return write_control(core::join_path(folder, "cgroup.procs"), std::to_string(::getpid()));
  }();
  if (!set)
    return core::fail(ErrorCode::unsupported, "the control group takes no such limit: " + set.error().message,
                      "the controller may not be delegated to this group");
  return std::unique_ptr<Injection>(std::move(group));
}

core::Result<std::unique_ptr<Injection>> set_quota(const Fault& fault, const FaultWorld& world) {
  const hardware::Cgroup group = hardware::find_cgroup(world.root, 0);
  if (group.cpu_folder.empty())
    return core::fail(ErrorCode::unsupported, "no control group of CPU time is mounted here, so no quota can be set");
  const double share = 1 - (1 - kLeastShare) * fault.intensity;
  const auto cpus = static_cast<double>(std::max<std::size_t>(1, allowed_cpus().size()));
  const std::string quota = std::to_string(std::lround(share * cpus * static_cast<double>(kPeriodUs)));
  if (group.version == 2) return enter_group(group.cpu_folder, {{"cpu.max", quota + " " + std::to_string(kPeriodUs)}}, world);
  return enter_group(group.cpu_folder, {{"cpu.cfs_period_us", std::to_string(kPeriodUs)}, {"cpu.cfs_quota_us", quota}}, world);
}

core::Result<std::unique_ptr<Injection>> limit_memory(const Fault& fault, const FaultWorld& world) {
  const hardware::Cgroup group = hardware::find_cgroup(world.root, 0);
  if (group.memory_folder.empty())
    return core::fail(ErrorCode::unsupported, "no control group of memory is mounted here, so no limit can be set");
  const auto swaps = core::read_file(core::join_path(world.root, "proc/swaps"));
  if (!swaps) return core::fail(ErrorCode::unsupported, "/proc/swaps cannot be read, so swapping cannot be ruled out");
  const auto limit = static_cast<std::int64_t>((1 - 0.9 * fault.intensity) * static_cast<double>(kRoomBytes)) + kRoomBytes / 4;
  const bool second = group.memory_version == 2;
  std::vector<Setting> settings = {{second ? "memory.max" : "memory.limit_in_bytes", std::to_string(limit)}};
  const bool has_swap = std::count(swaps->begin(), swaps->end(), '\n') > 1;
  if (second)
    settings.push_back({"memory.swap.max", "0"});
  else if (has_swap)
    settings.push_back({"memory.memsw.limit_in_bytes", std::to_string(limit)});
  return enter_group(group.memory_folder, settings, world);
}

}  // namespace

core::Result<std::unique_ptr<Injection>> set_limit(const Fault& fault, const FaultWorld& world) {
  if (fault.kind->id == "affinity_one_core") return Affinity::set();
  return fault.kind->id == "cpu_quota" ? set_quota(fault, world) : limit_memory(fault, world);
}

core::Result<std::int64_t> clean_up(const FaultWorld& world) {
  if (!core::exists(world.journal_folder)) return 0;
  AACO_ASSIGN(const auto names, core::list_directory(world.journal_folder));
  std::int64_t undone = 0;
  for (const std::string& name : names) {
    if (!name.starts_with("aaco-fault-")) continue;
    const std::string path = core::join_path(world.journal_folder, name);
    const auto entry = core::read_json_file(path);
    const std::string group = entry ? std::string((*entry)["group"].text()) : std::string();
    const auto process = entry ? (*entry)["process_id"].as_i64() : std::nullopt;
    if (process && *process > 0 && ::kill(static_cast<pid_t>(*process), 0) == 0) continue;
    // A journal that is damaged tells nothing to undo; a name that is not ours is not touched.
    const bool ours = core::base_name(group).starts_with("aaco-fault-");
    if (ours && ::rmdir(group.c_str()) != 0 && errno != ENOENT)
      return core::fail_errno(errno, "removing the control group " + group, "processes may still be in it");
    AACO_TRY(core::remove_tree(path));
    undone += ours ? 1 : 0;
  }
  return undone;
}

}  // namespace aaco::laboratory::faults
