#include <unistd.h>

#include <algorithm>
#include <functional>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/live.h"

namespace aaco::workflows {
namespace {

struct ProcessLine {
  std::string name;
  std::int64_t parent = 0, cpu_ticks = 0, threads = 0, resident_pages = 0;
};

// Of the words after the name, proc(5).
enum StatWord : std::size_t { kParent = 1, kUser = 11, kSystem = 12, kThreads = 17, kResident = 21 };

std::optional<ProcessLine> read_stat(const std::string& path) {
  const auto text = core::read_file(path, 4096);
  if (!text) return std::nullopt;
  const auto begin = text->find('('), end = text->rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  const auto words = core::split_words(std::string_view(*text).substr(end + 1));
  if (words.size() <= kResident) return std::nullopt;
  const auto number = [&](std::size_t at) { return core::parse_i64(words[at]).value_or(0); };
  return ProcessLine{text->substr(begin + 1, end - begin - 1), number(kParent), number(kUser) + number(kSystem), number(kThreads),
                     number(kResident)};
}

// Time that all threads were runnable without a CPU.
std::int64_t run_queue_wait(const std::string& tasks) {
  std::int64_t sum = 0;
  for (const std::string& thread : core::list_directory(tasks).value_or(std::vector<std::string>())) {
    const auto text = core::read_file(core::join_path(core::join_path(tasks, thread), "schedstat"), 4096);
    const auto words = text ? core::split_words(*text) : std::vector<std::string_view>();
    if (words.size() > 1) sum += core::parse_i64(words[1]).value_or(0);
  }
  return sum;
}

}  // namespace

std::vector<report::LiveProcess> ProcessWatch::look(const std::vector<std::int64_t>& roots) {
  std::vector<report::LiveProcess> processes;
  if (roots.empty()) return processes;
  const std::string proc = core::join_path(root_, "proc");
  std::map<std::int64_t, ProcessLine> all;
  std::map<std::int64_t, std::vector<std::int64_t>> children;
  for (const std::string& name : core::list_directory(proc).value_or(std::vector<std::string>())) {
    const auto id = core::parse_i64(name);
    auto line = id ? read_stat(core::join_path(core::join_path(proc, name), "stat")) : std::nullopt;
    if (!line) continue;
    children[line->parent].push_back(*id);
    all.emplace(*id, std::move(*line));
  }
  const double tick_ns = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  std::map<std::int64_t, Used> now;
  const std::function<void(std::int64_t, int)> add = [&](std::int64_t id, int depth) {
    const auto found = all.find(id);
    if (found == all.end() || processes.size() >= kMaxProcesses || now.contains(id)) return;
    const ProcessLine& line = found->second;
    const std::int64_t time_ns = core::monotonic_ns();
    const Used used{line.cpu_ticks, run_queue_wait(core::join_path(proc, std::to_string(id) + "/task")), time_ns};
    report::LiveProcess process{
        id, line.parent, depth, line.name, {}, {}, static_cast<double>(line.resident_pages) * page, line.threads};
    if (const auto before = before_.find(id); before != before_.end() && time_ns > before->second.time_ns) {
      const auto wall = static_cast<double>(time_ns - before->second.time_ns);
      process.cpu_cores = static_cast<double>(used.cpu_ticks - before->second.cpu_ticks) * tick_ns / wall;
      process.wait_ratio = std::max(0.0, static_cast<double>(used.wait_ns - before->second.wait_ns) / wall);
    }
    now[id] = used;
    processes.push_back(std::move(process));
    for (const std::int64_t child : children[id]) add(child, depth + 1);
  };
  for (const std::int64_t root : roots) add(root, 0);
  before_ = std::move(now);
  return processes;
}

}  // namespace aaco::workflows
