#include "hardware/process_facts.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hardware/tracer.h"

namespace aaco::hardware {
namespace {

std::string scheduler_name(int policy) {
  switch (policy) {
    case SCHED_OTHER: return "";
    case SCHED_FIFO: return "fifo";
    case SCHED_RR: return "rr";
    case SCHED_BATCH: return "batch";
    case SCHED_IDLE: return "idle";
    default: return "policy " + std::to_string(policy);
  }
}

// File names of a list that colons or spaces separate: folders differ between machines and say nothing.
std::string file_names(std::string_view list) {
  std::string names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(": "), list.size());
    const std::string_view path = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (path.empty()) continue;
    if (!names.empty()) names += ' ';
    names += path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  }
  return names;
}

std::string allocator_settings() {
  std::vector<std::string> settings;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("MALLOC_") || text.starts_with("GLIBC_TUNABLES=")) settings.emplace_back(text);
  }
  std::sort(settings.begin(), settings.end());
  std::string joined;
  for (const std::string& one : settings) joined += (joined.empty() ? "" : " ") + one;
  return joined;
}

}  // namespace

std::vector<Fact> process_facts() {
  std::vector<Fact> facts;
  const auto add = [&](std::string key, std::string value) {
    if (!value.empty()) facts.push_back({std::move(key), std::move(value)});
  };
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  add("process.nice", nice == 0 ? "" : std::to_string(nice));
  add("process.scheduler", scheduler_name(::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK));
  const char* preload = std::getenv("LD_PRELOAD");
  add("environment.preload", preload == nullptr ? "" : file_names(preload));
  add("environment.allocator", allocator_settings());
  add("process.tracer", tracer_of("/", ::getpid()));
  return facts;
}

}  // namespace aaco::hardware
