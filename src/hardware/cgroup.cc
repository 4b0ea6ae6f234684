#include "hardware/cgroup.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/controller_group.h"
#include "hardware/inventory/cgroup_files.h"

namespace aaco::hardware {
namespace {

using inventory::CgroupMembership;
using inventory::Mount;

constexpr std::int64_t kFileLimit = 1 << 20;

std::optional<std::string> read_text(const std::string& root, const std::string& path) {
  auto text = core::read_file(core::join_path(root, std::string_view(path).substr(1)), kFileLimit);
  if (!text) return std::nullopt;
  return std::string(core::trim(*text));
}

// Where a group's files lie: the mount point and what the group's path adds to the mount's own root. Inside a container the path
// may be that of the host, of which nothing is mounted: then the mount point itself is the group.
std::string folder_of(const std::string& root, const Mount& mount, const std::string& path, const char* probe) {
  std::string below = path;
  if (mount.root != "/" && below.starts_with(mount.root)) below.erase(0, mount.root.size());
  std::string folder = mount.point + (below == "/" ? "" : below);
  if (below.find("..") == std::string::npos && core::exists(core::join_path(root, folder.substr(1) + "/" + probe))) return folder;
  return mount.point;
}

std::optional<double> quota_v2(const std::string& root, const std::string& folder) {
  const auto text = read_text(root, folder + "/cpu.max");
  return text ? inventory::parse_cpu_max(*text) : std::nullopt;
}

std::optional<double> quota_v1(const std::string& root, const std::string& folder) {
  const auto quota = core::parse_i64(read_text(root, folder + "/cpu.cfs_quota_us").value_or(""));
  const auto period = core::parse_i64(read_text(root, folder + "/cpu.cfs_period_us").value_or(""));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::int64_t> memory_limit(const std::string& root, const std::string& folder, int version) {
  const auto limit =
      core::parse_i64(read_text(root, folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes")).value_or(""));
  // v1 writes the largest multiple of the page size for "none".
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - (1 << 20);
  if (!limit || *limit < 0 || *limit >= kNoLimit) return std::nullopt;
  return limit;
}

// The folder and its ancestors up to the mount point, innermost first.
std::vector<std::string> chain(const std::string& folder, const std::string& mount_point) {
  std::vector<std::string> folders;
  for (std::string at = folder; at.size() >= mount_point.size() && !at.empty(); at = at.substr(0, at.rfind('/')))
    folders.push_back(at);
  return folders;
}

void find_cpu(const std::string& root, const Mount& mount, const std::string& path, int version, Cgroup& cgroup) {
  const std::string leaf = folder_of(root, mount, path, "cpu.stat");
  if (!core::exists(core::join_path(root, leaf.substr(1) + "/cpu.stat"))) return;
  cgroup.version = version;
  cgroup.name = path;
  cgroup.cpu_folder = leaf;
  cgroup.cpu_weights.clear();
  for (const std::string& folder : chain(leaf, mount.point)) {
    if (const auto weight =
            core::parse_i64(read_text(root, folder + (version == 2 ? "/cpu.weight" : "/cpu.shares")).value_or(""));
        weight && *weight > 0)
      cgroup.cpu_weights.push_back(*weight);
    const auto quota = version == 2 ? quota_v2(root, folder) : quota_v1(root, folder);
    if (!quota || (cgroup.cpu_limit_cores && *cgroup.cpu_limit_cores <= *quota)) continue;
    cgroup.cpu_limit_cores = quota;
    cgroup.cpu_folder = folder;
  }
}

void find_memory(const std::string& root, const Mount& mount, const std::string& path, int version, Cgroup& cgroup) {
  const char* const usage = version == 2 ? "memory.current" : "memory.usage_in_bytes";
  const std::string leaf = folder_of(root, mount, path, usage);
  if (core::exists(core::join_path(root, leaf.substr(1) + "/" + usage))) {
    cgroup.memory_folder = leaf;
    cgroup.memory_version = version;
  }
  for (const std::string& folder : chain(leaf, mount.point)) {
    const auto limit = memory_limit(root, folder, version);
    if (!limit || (cgroup.memory_limit_bytes && *cgroup.memory_limit_bytes <= *limit)) continue;
    cgroup.memory_limit_bytes = limit;
    cgroup.memory_limit_folder = folder;
  }
}

std::string process_folder(std::int64_t process_id) {
  return "/proc/" + (process_id > 0 ? std::to_string(process_id) : std::string("self"));
}

bool names(const CgroupMembership& membership, std::string_view controller) {
  return std::find(membership.controllers.begin(), membership.controllers.end(), controller) != membership.controllers.end();
}

}  // namespace

std::optional<ControllerGroup> find_controller(const std::string& root, std::int64_t process_id, std::string_view controller) {
  const auto mounts = inventory::parse_mounts(read_text(root, "/proc/self/mountinfo").value_or(""));
  std::optional<ControllerGroup> second;
  for (const auto& membership :
       inventory::parse_memberships(read_text(root, process_folder(process_id) + "/cgroup").value_or(""))) {
    const auto mount =
        std::find_if(mounts.begin(), mounts.end(), [&](const Mount& one) { return inventory::carries(one, membership); });
    if (mount == mounts.end() || mount->point.size() < 2) continue;
    ControllerGroup group{membership.controllers.empty() ? 2 : 1, folder_of(root, *mount, membership.path, "cgroup.procs"),
                          mount->point};
    if (names(membership, controller)) return group;
    if (group.version != 2) continue;
    const std::string there = read_text(root, mount->point + "/cgroup.controllers").value_or("");
    for (const std::string_view word : core::split_words(there))
      if (word == controller) second = group;
  }
  return second;
}

FreezerFiles find_freezer(const std::string& root, std::int64_t process_id) {
  FreezerFiles found;
  const auto exists = [&](const std::string& path) { return core::exists(core::join_path(root, path.substr(1))); };
  const auto mounts = inventory::parse_mounts(read_text(root, "/proc/self/mountinfo").value_or(""));
  for (const auto& membership :
       inventory::parse_memberships(read_text(root, process_folder(process_id) + "/cgroup").value_or(""))) {
    const bool second = membership.controllers.empty();
    if (!second && !names(membership, "freezer")) continue;
    const auto mount =
        std::find_if(mounts.begin(), mounts.end(), [&](const Mount& one) { return inventory::carries(one, membership); });
    if (mount == mounts.end() || mount->point.size() < 2) continue;
    const std::string leaf = folder_of(root, *mount, membership.path, "cgroup.procs");
    for (const std::string& folder : chain(leaf, mount->point))
      if (std::string file = folder + (second ? "/cgroup.freeze" : "/freezer.state"); exists(file))
        found.controls.push_back(std::move(file));
    if (std::string file = leaf + "/cgroup.stat.local"; second && exists(file)) found.times.push_back(std::move(file));
  }
  return found;
}

std::string cpu_weight_text(const Cgroup& cgroup) {
  constexpr std::int64_t kDefaultShares = 1024, kDefaultWeight = 100;  // Linux, Documentation/admin-guide/cgroup-v2.rst
  std::string text;
  for (const std::int64_t weight : cgroup.cpu_weights) {
    if (weight == (cgroup.version == 2 ? kDefaultWeight : kDefaultShares)) continue;
    text += (text.empty() ? "" : " in ") + std::string(cgroup.version == 2 ? "weight " : "shares ") + std::to_string(weight);
  }
  return text;
}

Cgroup find_cgroup(const std::string& root, std::int64_t process_id) {
  Cgroup cgroup;
  const auto memberships = inventory::parse_memberships(read_text(root, process_folder(process_id) + "/cgroup").value_or(""));
  const auto mounts = inventory::parse_mounts(read_text(root, "/proc/self/mountinfo").value_or(""));
  for (const CgroupMembership& membership : memberships) {
    const int version = membership.controllers.empty() ? 2 : 1;
    const auto has = [&](std::string_view controller) { return version == 2 || names(membership, controller); };
    const auto mount =
        std::find_if(mounts.begin(), mounts.end(), [&](const Mount& one) { return inventory::carries(one, membership); });
    if (mount == mounts.end() || mount->point.size() < 2) continue;
    // A v1 controller wins over an empty v2 tree beside it: that is where its limits are.
    if (has("cpu") && (version == 1 || cgroup.version == 0)) find_cpu(root, *mount, membership.path, version, cgroup);
    if (has("memory") && (version == 1 || cgroup.memory_version == 0))
      find_memory(root, *mount, membership.path, version, cgroup);
    if (has("cpuset") && !cgroup.cpus) {
      const std::string folder = folder_of(root, *mount, membership.path, "cpuset.cpus");
      auto cpus = read_text(root, folder + (version == 2 ? "/cpuset.cpus.effective" : "/cpuset.cpus"));
      if (cpus && !cpus->empty()) cgroup.cpus = std::move(cpus);
    }
  }
  return cgroup;
}

}  // namespace aaco::hardware
