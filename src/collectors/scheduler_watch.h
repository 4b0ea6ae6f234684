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
  // false: the process itself is not watched, but what it starts from now on is, until stop_adopting().
  bool with_itself = true;
  // Kinds of kernel programs that are tried for each event, in this order.
  std::vector<std::string> ways = {"tp_btf", "raw_tp", "tracepoint"};
};

// How an event of the kernel is heard, or why it is not.
struct Attachment {
  std::string event;   // "sched_switch"
  std::string way;     // "tp_btf", "raw_tp", "tracepoint"; empty: not at all
  std::string reason;  // why not the ways before it
};

// The eBPF plane: what the kernel's scheduler, memory, interrupts and block layer do to a process and all its descendants,
// filtered in the kernel. Begins paused. All members are called from one thread; the rings are emptied by a thread of its own,
// which is not watched itself.
class SchedulerWatch {
 public:
  // unsupported, with the reason and a remedy, where the build, the kernel or the permission does not allow it.
  static core::Result<std::unique_ptr<SchedulerWatch>> open(const WatchOptions& options);
  virtual ~SchedulerWatch() = default;

  // Events between a resume and the next pause are recorded. Intervals are cut where recording begins and ends.
  virtual void resume() = 0;
  virtual void pause() = 0;
  virtual void stop_adopting() = 0;
  // Hands over the rows of what is old enough to be in order: bounds the memory of a long recording.
  virtual void drain(trace::Sink& sink) = 0;
  // Ends watching and hands over every row. Idempotent.
  virtual void finish(trace::Sink& sink) = 0;

  [[nodiscard]] virtual const std::vector<Attachment>& attachments() const = 0;
  // Events read, kept and lost; complete after finish().
  [[nodiscard]] virtual trace::Account account() const = 0;
};

}  // namespace aaco::collectors
