#include "workflows/run/tracer_watch.h"

#include <algorithm>

#include "hardware/tracer.h"
#include "workflows/run/process_tree.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kLongestLookNs = 250'000'000;

}  // namespace

void TracerWatch::look(std::int64_t now_ns) {
  if (now_ns < next_look_ns_) return;
  for (const std::int64_t process : process_tree(root_, process_id_))
    if (auto name = hardware::tracer_of(root_, process); !name.empty()) names_.insert(std::move(name));
  // A tracer starts before what it traces: the first looks follow each other closely.
  interval_ns_ = std::min(interval_ns_ * 2, kLongestLookNs);
  next_look_ns_ = now_ns + interval_ns_;
}

std::string TracerWatch::names() const {
  std::string text;
  for (const std::string& name : names_) text += (text.empty() ? "" : " ") + name;
  return text;
}

void warn_of_tracer(const std::string& names, SessionDraft& draft) {
  if (names.empty()) return;
  draft.warn("process.traced", "the process was traced by ptrace (" + names + "): its times include the tracer's stops",
             "measure without the tracer, or trace both sides of a comparison");
}

}  // namespace aaco::workflows
