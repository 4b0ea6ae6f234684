#include "workflows/run/python_watch.h"

#include <algorithm>

#include "core/clock.h"
#include "core/strings.h"
#include "workflows/run/process_tree.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kLongestIntervalNs = 5'000'000'000;

std::string key_of(const hardware::PythonEnvironment& environment) {
  return environment.interpreter + "\n" + core::join(environment.folders, "\n");
}

}  // namespace

void PythonWatch::look() {
  const std::int64_t now = core::monotonic_ns();
  if (now < next_look_ns_) return;
  for (const std::int64_t process : process_tree("/", process_id_)) {
    if (known_.contains(process)) continue;
    auto environment = hardware::python_environment("/", process);
    if (!environment) continue;
    known_.insert(process);
    const std::string key = key_of(*environment);
    environments_.emplace(key, std::move(*environment));
  }
  next_look_ns_ = now + interval_ns_;
  interval_ns_ = std::min(interval_ns_ * 2, kLongestIntervalNs);
}

core::Json PythonWatch::libraries() const {
  core::Json out = core::Json::object();
  if (environments_.empty()) return out;
  core::Json list = core::Json::array();
  for (const auto& [key, environment] : environments_) list.push(to_json(environment));
  out.set("python", std::move(list));
  return out;
}

}  // namespace aaco::workflows
