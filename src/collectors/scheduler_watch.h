#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "core/result.h"
#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::collectors {

struct WatchOptions {
  SysRoot root;
  std::int64_t process_id = 0;
  // false: only children started from now on are watched, not the process itself, until stop_adopting().
  bool with_itself = true;
  bool with_stacks = true;  // of threads that leave their CPU by themselves
  // Attach methods to try for each event, in this order.
  std::vector<std::string> ways = {"tp_btf", "raw_tp", "tracepoint", "kprobe"};
};

// How a kernel event is traced, or why it is not.
struct Attachment {
  std::string event;   // "sched_switch"
  std::string way;     // "tp_btf", "raw_tp", "tracepoint", "kprobe"; empty: not at all
  std::string reason;  // why earlier methods failed
};

// Where a thread left its CPU by itself, and how long it was off in total.
struct OffCpuStack {
  std::string thread;               // its name
  std::vector<std::string> frames;  // outermost first; the kernel's end in kKernelFrame; "[libc.so.6]": a file without symbols
  std::int64_t total_ns = 0, count = 0;
  bool operator==(const OffCpuStack&) const = default;
};
inline constexpr const char* kKernelFrame = "_[k]";  // as the tools for folded stacks mark them

// The eBPF collector: scheduler, memory, interrupt and block-layer events of a process and all its descendants,
// filtered in the kernel. Starts paused. Call all members from one thread; a separate thread, which is not watched itself,
// drains the ring buffers.
class SchedulerWatch {
 public:
  // Fails with unsupported, the reason and a remedy if the build, the kernel or permissions do not allow it.
  static core::Result<std::unique_ptr<SchedulerWatch>> open(const WatchOptions& options);
  virtual ~SchedulerWatch() = default;

  // Records events between a resume and the next pause. Intervals are clipped to the recorded time.
  virtual void resume() = 0;
  virtual void pause() = 0;
  virtual void stop_adopting() = 0;
  // Delivers rows old enough to be in order; bounds the memory of a long recording.
  virtual void drain(trace::Sink& sink) = 0;
  // Stops watching and delivers all remaining rows. Idempotent.
  virtual void finish(trace::Sink& sink) = 0;

  [[nodiscard]] virtual const std::vector<Attachment>& attachments() const = 0;
  // Most time first; complete after finish(). Frames of user code as far as it keeps frame pointers.
  virtual std::vector<OffCpuStack> off_cpu_stacks() = 0;
  // Events read, kept and lost; complete after finish().
  [[nodiscard]] virtual trace::Account account() const = 0;
};

}  // namespace aaco::collectors
