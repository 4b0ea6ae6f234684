#include "collectors/block/descendants.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/scanner.h"
#include "collectors/proc/process_files.h"
#include "core/files.h"

namespace aaco::collectors {
namespace {

constexpr std::int64_t kNsPerTick = 10'000'000;

std::string folder_of(std::int64_t process_id) { return "/proc/" + std::to_string(process_id); }

std::optional<proc::ProcessStat> stat_of(const SysRoot& root, std::int64_t process_id) {
  const auto text = probe::read_small(root.at(folder_of(process_id) + "/stat"));
  return text ? proc::parse_process_stat(*text) : std::nullopt;
}

void add_children(const SysRoot& root, std::int64_t process_id, std::vector<std::int64_t>& tree) {
  const std::string tasks = folder_of(process_id) + "/task";
  const auto threads = core::list_directory(root.at(tasks));
  if (!threads) return;
  for (const std::string& thread : *threads) {
    const auto text = probe::read_small(root.at(tasks + "/" + thread + "/children"));
    if (!text) continue;
    probe::Scanner words(*text);
    while (const auto child = words.next_i64())
      if (tree.size() < kMaxDescendants && std::find(tree.begin(), tree.end(), *child) == tree.end()) tree.push_back(*child);
  }
}

struct Descendant {
  std::int64_t id = 0;
  proc::ProcessStat stat;
};

std::vector<Descendant> find_descendants(const SysRoot& root, std::int64_t process_id) {
  std::vector<std::int64_t> tree;
  add_children(root, process_id, tree);
  if (tree.empty()) return {};
  const auto own = stat_of(root, process_id);
  std::vector<Descendant> found;
  for (std::size_t i = 0; i < tree.size(); ++i) {  // the list grows while it is walked
    const auto stat = stat_of(root, tree[i]);
    if (!stat || !own || stat->session != own->session) continue;
    found.push_back({tree[i], *stat});
    add_children(root, tree[i], tree);
  }
  return found;
}

}  // namespace

std::vector<std::int64_t> descendants(const SysRoot& root, std::int64_t process_id) {
  std::vector<std::int64_t> ids;
  for (const Descendant& one : find_descendants(root, process_id)) ids.push_back(one.id);
  return ids;
}

std::int64_t descendants_cpu_ns(const SysRoot& root, std::int64_t process_id) {
  std::uint64_t ticks = 0;
  for (const auto& [id, stat] : find_descendants(root, process_id))
    ticks += stat.user_ticks + stat.system_ticks + stat.waited_user_ticks + stat.waited_system_ticks;
  return static_cast<std::int64_t>(ticks) * kNsPerTick;
}

}  // namespace aaco::collectors
