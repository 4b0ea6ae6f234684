#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "workflows/session_draft.h"

namespace aaco::workflows {

// Notices which programs trace processes of a tree by ptrace while it runs. A look costs a file of /proc per process and is taken
// four times a second.
class TracerWatch {
 public:
  // `root` is the file-system root below which /proc is read.
  TracerWatch(std::string root, std::int64_t process_id) : root_(std::move(root)), process_id_(process_id) {}
  // Looks when it is time to (`now_ns` monotonic); called often.
  void look(std::int64_t now_ns);
  // "gdb strace": the tracers seen, in alphabetical order; empty: none.
  [[nodiscard]] std::string names() const;

 private:
  std::string root_;
  std::int64_t process_id_, next_look_ns_ = 0, interval_ns_ = 5'000'000;
  std::set<std::string> names_;
};

// Tells a session that a tracer's stops are in its times; `names`: as TracerWatch::names(), empty: nothing to tell.
void warn_of_tracer(const std::string& names, SessionDraft& draft);

}  // namespace aaco::workflows
