#include "workflows/run/memory_limit.h"

#include <algorithm>
#include <utility>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/cgroup.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kFileLimit = 1 << 16;

std::string text_of(const std::string& path) {
  return path.empty() ? std::string() : core::read_file(path, kFileLimit).value_or("");
}

// "oom_kill 3" in a file of lines; without a key the whole file is the number.
std::optional<std::int64_t> counter(const std::string& path, std::string_view key) {
  const std::string text = text_of(path);
  if (key.empty()) return core::parse_i64(core::trim(text));
  for (const std::string_view line : core::split(text, '\n'))
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) return core::parse_i64(line.substr(key.size() + 1));
  return std::nullopt;
}

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& first, const std::optional<std::int64_t>& last) {
  if (first && last && *last >= *first) sum = sum.value_or(0) + (*last - *first);
}

}  // namespace

MemoryLimit::MemoryLimit(std::string root, std::int64_t process_id) : root_(std::move(root)), process_id_(process_id) {
  groups_ = text_of(core::join_path(root_, "proc/" + std::to_string(process_id_) + "/cgroup"));
  enter();
}

MemoryLimit::Counts MemoryLimit::read() const { return {counter(hits_file_, hits_key_), counter(kills_file_, "oom_kill")}; }

void MemoryLimit::enter() {
  const hardware::Cgroup group = hardware::find_cgroup(root_, process_id_);
  const bool v2 = group.memory_version == 2;
  const auto below = [&](const std::string& folder, const char* name) {
    return folder.empty() ? std::string() : core::join_path(root_, (folder + "/" + name).substr(1));
  };
  // A limit above the group's own is reached in the group that has it; the victim is counted in its own.
  hits_file_ = below(group.memory_limit_folder, v2 ? "memory.events" : "memory.failcnt");
  hits_key_ = v2 ? "max" : "";
  kills_file_ = below(group.memory_folder, v2 ? "memory.events" : "memory.oom_control");
  if (group.memory_limit_bytes) limit_bytes_ = group.memory_limit_bytes;
  first_ = last_ = read();
}

void MemoryLimit::leave() {
  add(before_.hits, first_.hits, last_.hits);
  add(before_.kills, first_.kills, last_.kills);
}

void MemoryLimit::look() {
  // Of a process that ended, or whose group was removed, the last reading stays.
  const Counts now = read();
  if (now.hits) last_.hits = now.hits;
  if (now.kills) last_.kills = now.kills;
  std::string groups = text_of(core::join_path(root_, "proc/" + std::to_string(process_id_) + "/cgroup"));
  if (groups.empty() || groups == groups_) return;
  groups_ = std::move(groups);
  leave();
  enter();
}

void MemoryLimit::account(trace::Metrics& metrics) {
  look();
  Counts all = before_;
  add(all.hits, first_.hits, last_.hits);
  add(all.kills, first_.kills, last_.kills);
  const auto put = [&](const char* id, const std::optional<std::int64_t>& value, const char* unit) {
    if (value) metrics.push_back({id, static_cast<double>(*value), unit, {}, {}});
  };
  put("cgroup.memory_limit_bytes", limit_bytes_, "bytes");
  put("cgroup.memory_limit_hits", all.hits, "count");
  put("cgroup.oom_kills", all.kills, "count");
}

}  // namespace aaco::workflows
