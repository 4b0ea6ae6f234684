#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectors/ebpf/wire.h"
#include "collectors/scheduler_watch.h"

namespace aaco::collectors::ebpf {

// Events that were lost or not followed, by the kernel's side.
struct SourceCounts {
  WireCounts total{};
};

// The kernel's side of the plane as this side sees it. `read` may be called from another thread than the rest.
class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual void set_enabled(bool enabled) = 0;
  // The calling thread is no part of what is watched.
  virtual void skip_this_thread() = 0;
  virtual void adopt(std::uint32_t process, bool with_itself) = 0;
  virtual void forget(std::uint32_t process) = 0;
  // Appends what is in the rings, each ring in order of time.
  virtual void read(std::vector<WireEvent>& events) = 0;
  // Addresses of a stack of an event, innermost first; empty where there is none.
  [[nodiscard]] virtual std::vector<std::uint64_t> stack(std::int32_t key) const = 0;
  [[nodiscard]] virtual SourceCounts counts() const = 0;
  [[nodiscard]] virtual const std::vector<Attachment>& attachments() const = 0;
};

// Loads and attaches the programs; unsupported where this build or this machine does not allow it.
core::Result<std::unique_ptr<EventSource>> open_kernel(const WatchOptions& options);

// The plane over any source.
std::unique_ptr<SchedulerWatch> make_watch(std::unique_ptr<EventSource> source, const WatchOptions& options);

}  // namespace aaco::collectors::ebpf
