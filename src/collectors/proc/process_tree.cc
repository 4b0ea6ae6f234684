#include "collectors/proc/process_tree.h"

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <memory>

#include "collectors/probe/scanner.h"

namespace aaco::collectors::proc {
namespace {

// Looking at every process of the machine for its parent is done at each fifth refresh only.
constexpr std::int64_t kTurnsOfScan = 5;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The numbers among the names in a folder: process or thread ids. Empty where the folder is gone.
std::vector<std::int64_t> numbered_entries(const std::string& path) {
  std::vector<std::int64_t> numbers;
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
  if (!directory) return numbers;
  while (const dirent* entry = readdir(directory.get()))
    if (const auto number = probe::Scanner(entry->d_name).next_i64()) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

probe::ProbeFile open_or_none(const std::string& path) {
  auto file = probe::ProbeFile::open(path);
  return file ? std::move(*file) : probe::ProbeFile();
}

std::optional<clockid_t> process_clock(std::int64_t id) {
  clockid_t clock{};
  if (clock_getcpuclockid(static_cast<pid_t>(id), &clock) != 0) return std::nullopt;
  return clock;
}

}  // namespace

std::string ProcessTree::path_of(std::int64_t id, std::string_view file) const {
  return root_.at("/proc/" + std::to_string(id) + std::string(file));
}

core::Status ProcessTree::open(const SysRoot& root, std::int64_t process_id) {
  root_ = root;
  AACO_ASSIGN(ProcessProbe process, open_process(process_id));
  refresh_threads(process, 0);
  // Kernels built without CONFIG_PROC_CHILDREN lack these files.
  const std::string id = std::to_string(process_id);
  has_children_files_ = probe::ProbeFile::open(path_of(process_id, "/task/" + id + "/children")).has_value();
  processes_.push_back(std::move(process));
  return {};
}

core::Result<ProcessProbe> ProcessTree::open_process(std::int64_t id) const {
  ProcessProbe process;
  process.id = id;
  auto stat = probe::ProbeFile::open(path_of(id, "/stat"));
  if (!stat)
    return core::fail(core::ErrorCode::not_found, "no process " + std::to_string(id) + " to observe: " + stat.error().message);
  process.stat = std::move(*stat);
  process.status = open_or_none(path_of(id, "/status"));
  process.io = open_or_none(path_of(id, "/io"));
  if (root_.is_real()) process.cpu_clock = process_clock(id);
  return process;
}

void ProcessTree::refresh_threads(ProcessProbe& process, std::size_t others) {
  const std::vector<std::int64_t> ids = numbered_entries(path_of(process.id, "/task"));
  process.alive = !ids.empty();
  std::erase_if(process.threads,
                [&](const ThreadProbe& thread) { return !std::binary_search(ids.begin(), ids.end(), thread.id); });
  for (const std::int64_t id : ids) {
    if (std::any_of(process.threads.begin(), process.threads.end(), [&](const ThreadProbe& thread) { return thread.id == id; }))
      continue;
    if (others + process.threads.size() >= kMaxThreads) {
      ++unobserved_;
      continue;
    }
    const std::string task = "/task/" + std::to_string(id);
    ThreadProbe thread;
    thread.id = id;
    thread.sched_stat = open_or_none(path_of(process.id, task + "/schedstat"));
    thread.status = open_or_none(path_of(process.id, task + "/status"));
    process.threads.push_back(std::move(thread));
  }
}

void ProcessTree::adopt(std::int64_t id, trace::Sink& sink) {
  if (std::any_of(processes_.begin(), processes_.end(), [&](const ProcessProbe& known) { return known.id == id; })) return;
  if (processes_.size() >= kMaxProcesses) {
    ++unobserved_;
    return;
  }
  auto child = open_process(id);
  if (!child) return;  // it has ended already
  refresh_threads(*child, thread_count());
  child->entity = sink.name("pid " + std::to_string(id));
  processes_.push_back(std::move(*child));
}

void ProcessTree::adopt_children(std::size_t parent_index, trace::Sink& sink) {
  char buffer[4096];
  for (std::size_t t = 0; t < processes_[parent_index].threads.size(); ++t) {
    const ProcessProbe& parent = processes_[parent_index];
    probe::ProbeFile file = open_or_none(path_of(parent.id, "/task/" + std::to_string(parent.threads[t].id) + "/children"));
    const auto text = file.valid() ? file.read(buffer) : std::nullopt;
    if (!text) continue;
    probe::Scanner words(*text);
    while (const auto id = words.next_i64()) adopt(*id, sink);
  }
}

void ProcessTree::adopt_by_parents(trace::Sink& sink) {
  std::map<std::int64_t, std::vector<std::int64_t>> children;
  char buffer[1024];
  for (const std::int64_t id : numbered_entries(root_.at("/proc"))) {
    probe::ProbeFile file = open_or_none(path_of(id, "/stat"));
    const auto text = file.valid() ? file.read(buffer) : std::nullopt;
    if (const auto stat = text ? parse_process_stat(*text) : std::nullopt) children[stat->parent].push_back(id);
  }
  for (std::size_t i = 0; i < processes_.size(); ++i)  // the list grows while it is walked
    for (const std::int64_t id : children[processes_[i].id]) adopt(id, sink);
}

void ProcessTree::refresh(trace::Sink& sink) {
  unobserved_ = 0;
  for (ProcessProbe& process : processes_) refresh_threads(process, thread_count() - process.threads.size());
  // The root stays, so that the end of it is seen as such and not as an empty tree.
  const auto ended = std::remove_if(processes_.begin() + (processes_.empty() ? 0 : 1), processes_.end(),
                                    [](const ProcessProbe& process) { return !process.alive; });
  processes_.erase(ended, processes_.end());
  if (has_children_files_) {
    for (std::size_t i = 0; i < processes_.size(); ++i) adopt_children(i, sink);  // the list grows while it is walked
  } else if (turn_++ % kTurnsOfScan == 0) {
    adopt_by_parents(sink);
  }
}

void ProcessTree::intern(trace::Sink& sink) {
  for (ProcessProbe& process : processes_) process.entity = sink.name("pid " + std::to_string(process.id));
}

void ProcessTree::forget() {
  for (ProcessProbe& process : processes_) {
    process.cpu_ns.reset();
    process.last_stat.reset();
    process.read_bytes.reset();
    process.written_bytes.reset();
    for (ThreadProbe& thread : process.threads)
      thread.wait_ns = thread.voluntary_switches = thread.involuntary_switches = std::nullopt;
  }
}

std::size_t ProcessTree::thread_count() const {
  std::size_t count = 0;
  for (const ProcessProbe& process : processes_) count += process.threads.size();
  return count;
}

}  // namespace aaco::collectors::proc
