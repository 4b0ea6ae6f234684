#include <algorithm>
#include <array>
#include <string_view>

#include "analytics/gaps.h"

// Compilers run as processes of their own (ptxas, ld.lld, a C++ compiler): the thread that needs the code only waits.
namespace aaco::analytics::gaps {
namespace {

template <std::size_t N>
bool contains_any(std::string_view name, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// A wait for a process that the thread started.
bool waits_for_child(std::string_view name) {
  return contains_any(name, std::to_array<std::string_view>({"waitpid", "wait4", "waitid", "wait3", "subprocess.py"}));
}

}  // namespace

// A wait for a child process that the loading of code follows, before a kernel that never ran, is the compiler's time.
void GapExplainer::note_compilers(const Gap& gap, std::vector<HostFrame>& frames) const {
  if (!gap.launch || !gap.launch->is_first || gap.launch->is_copy) return;
  const auto& own = book_->own();
  const auto of_thread = [&](const Call& call) { return call.rank == gap.rank && call.thread_id == gap.launch->thread_id; };
  std::int64_t load_ns = INT64_MIN;
  for (const Call& call : calls_)
    if (of_thread(call) && call.is_runtime() && call.cause == own.first_use && call.start_ns <= gap.launch->start_ns &&
        call.end_ns > gap.start_ns)
      load_ns = std::max(load_ns, call.start_ns);
  if (load_ns == INT64_MIN) return;
  const auto before_load = [&](const Call& call) {
    return of_thread(call) && (call.domain == HostDomain::os || call.domain == HostDomain::python) &&
           call.end_ns > gap.start_ns && call.end_ns <= load_ns;
  };
  for (const Call& call : calls_)
    if (before_load(call) && waits_for_child(names_.text(call.name)))
      frames.push_back({call.start_ns, call.end_ns, own.jit_compilation, false});
  sort_frames(frames);
}

}  // namespace aaco::analytics::gaps
