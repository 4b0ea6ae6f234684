#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::hardware::inventory {

// A line of /proc/PID/cgroup: "4:cpu,cpuacct:/job" (v1), "0::/job" (v2, no controllers named).
struct CgroupMembership {
  std::vector<std::string> controllers;
  std::string path;
  bool operator==(const CgroupMembership&) const = default;
};
// Lines that are not of that form are left out; named hierarchies without controllers ("name=systemd") too.
std::vector<CgroupMembership> parse_memberships(std::string_view text);

// A mounted cgroup hierarchy in /proc/PID/mountinfo.
struct Mount {
  std::string root, point;
  std::string type;                  // cgroup, cgroup2
  std::vector<std::string> options;  // of the file system: the controllers
  bool operator==(const Mount&) const = default;
};
std::vector<Mount> parse_mounts(std::string_view text);

// Whether the membership's hierarchy is the one mounted there.
bool carries(const Mount& mount, const CgroupMembership& membership);

// "200000 100000" is 2 cores; empty for "max 100000" and for anything else.
std::optional<double> parse_cpu_max(std::string_view text);

}  // namespace aaco::hardware::inventory
