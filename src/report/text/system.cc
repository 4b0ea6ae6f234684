#include <algorithm>

#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kReasons = 10, kThreads = 6;

// "waiting for a CPU: preempted", "off the CPU: sleep in futex".
std::string title_of(const OperatingSystem::Reason& reason) {
  const std::string_view kind = reason.kind;
  std::string title = kind == "run_queue"    ? "runnable, waiting for a CPU"
                      : kind == "off_cpu"    ? "off-CPU"
                      : kind == "irq"        ? "interrupt"
                      : kind == "softirq"    ? "softirq"
                      : kind == "page_fault" ? "page fault"
                      : kind == "block_io"   ? "block I/O"
                      : kind == "migrate"    ? "CPU migration"
                      : kind == "gpu_job"    ? "GPU job"
                      : kind == "gpu_fence"  ? "GPU fence"
                      : kind == "gpu_buffer" ? "GPU buffer"
                      : kind == "gpu_memory" ? "GPU memory"
                                             : std::string(kind);
  if (!reason.detail.empty()) title += ": " + reason.detail;
  if (!reason.call.empty()) title += " in " + reason.call;
  return title;
}

std::string duration(const TextPage& page, std::int64_t ns) { return ns > 0 ? page.quantity(static_cast<double>(ns), "ns") : ""; }

}  // namespace

void write_text(TextPage& page, const OperatingSystem& section, const ReportModel&) {
  const bool wide = page.width() >= 70;
  page.heading("Operating system activity", wide ? "count, total, max" : "");
  const int room = std::max(12, page.width() - 2 - 3 * 11);
  const auto& reasons = section.reasons;
  for (std::size_t i = 0; i < reasons.size() && i < kReasons; ++i)
    page.line("  " + fit_left(page.clean(title_of(reasons[i])), room, page.ascii()) +
              fit_right(std::to_string(reasons[i].count), 11, page.ascii()) +
              fit_right(duration(page, reasons[i].total_ns), 11, page.ascii()) +
              fit_right(duration(page, reasons[i].longest_ns), 11, page.ascii()));
  if (reasons.size() > kReasons)
    page.line(page.styled("  and " + std::to_string(reasons.size() - kReasons) + " more (see --json)", Style::dim));
  page.line();
  page.line("  " + page.styled(fit_left("thread", room, page.ascii()) + fit_right("running", 11, page.ascii()) +
                                   fit_right("runnable", 11, page.ascii()) + fit_right("off-CPU", 11, page.ascii()),
                               Style::dim));
  const auto& threads = section.threads;
  for (std::size_t i = 0; i < threads.size() && i < kThreads; ++i) {
    std::string name = threads[i].name;
    name += (name.empty() ? "thread " : " ") + std::to_string(threads[i].thread_id);
    page.line("  " + fit_left(page.clean(name), room, page.ascii()) +
              fit_right(duration(page, threads[i].run_ns), 11, page.ascii()) +
              fit_right(duration(page, threads[i].run_queue_ns), 11, page.ascii()) +
              fit_right(duration(page, threads[i].off_cpu_ns), 11, page.ascii()));
  }
  const std::int64_t count = section.thread_count;
  if (count > static_cast<std::int64_t>(kThreads))
    page.line(page.styled("  and " + std::to_string(count - static_cast<std::int64_t>(kThreads)) + " more threads", Style::dim));
}

}  // namespace aaco::report
