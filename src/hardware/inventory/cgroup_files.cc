#include "hardware/inventory/cgroup_files.h"

#include <algorithm>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::hardware::inventory {
namespace {

std::vector<std::string> to_strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

// mountinfo writes white space and backslashes as three octal digits.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::vector<CgroupMembership> parse_memberships(std::string_view text) {
  std::vector<CgroupMembership> memberships;
  for (const std::string_view line : core::split_lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.starts_with("name=")) continue;
    CgroupMembership membership;
    if (!controllers.empty()) membership.controllers = to_strings(core::split(controllers, ','));
    membership.path = line.substr(second + 1);
    memberships.push_back(std::move(membership));
  }
  return memberships;
}

std::vector<Mount> parse_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : core::split_lines(text)) {
    const auto words = core::split_words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    // ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    if (*(dash + 1) != "cgroup" && *(dash + 1) != "cgroup2") continue;
    mounts.push_back(
        {unescape(words[3]), unescape(words[4]), std::string(*(dash + 1)), to_strings(core::split(*(dash + 3), ','))});
  }
  return mounts;
}

bool carries(const Mount& mount, const CgroupMembership& membership) {
  if (membership.controllers.empty()) return mount.type == "cgroup2";
  return mount.type == "cgroup" &&
         std::all_of(membership.controllers.begin(), membership.controllers.end(), [&](const std::string& controller) {
           return std::find(mount.options.begin(), mount.options.end(), controller) != mount.options.end();
         });
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto words = core::split_words(text);
  if (words.size() != 2) return std::nullopt;
  const auto quota = core::parse_i64(words[0]);
  const auto period = core::parse_i64(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace aaco::hardware::inventory
