#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "core/result.h"
#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::collectors {

// Root of /proc and /sys; tests use a checked-in fake machine.
struct SysRoot {
  std::string path = "/";
  // "/proc/stat" below the root.
  [[nodiscard]] std::string at(std::string_view absolute) const {
    return core::join_path(path, absolute.substr(absolute.starts_with('/')));
  }
  // The real machine: system calls may replace less precise files.
  [[nodiscard]] bool is_real() const { return path == "/" || path.empty(); }
};

// What is observed: a process and all its descendants, or only the machine if no process is set.
struct Target {
  std::int64_t process_id = 0;  // 0: the machine only
};

struct CollectorInfo {
  std::string name;      // "proc", "amdgpu", "nvml", "clock"
  std::string measures;  // one-line description
};

// One source of telemetry. Call order: open, sample any number of times, close; never from two threads at once. A metric
// computed from two readings emits nothing on the first sample. A value that cannot be read is not emitted but
// counted as dropped in the account.
class Collector {
 public:
  virtual ~Collector() = default;
  [[nodiscard]] virtual CollectorInfo info() const = 0;
  // Fails with unsupported (and a remedy) without the hardware or the permission.
  virtual core::Status open(const SysRoot& root, const Target& target) = 0;
  // Reads everything that is due and emits rows stamped when they were read.
  virtual void sample(trace::Sink& sink) = 0;
  // Discards earlier readings (after a pause): the next sample counts as a first sample for differences.
  virtual void forget() {}
  virtual void close() = 0;
  // Records read, kept, dropped and why; valid after close too.
  [[nodiscard]] virtual trace::Account account() const = 0;
};

// All built-in collectors, not yet opened.
std::vector<std::unique_ptr<Collector>> builtin_collectors();

}  // namespace aaco::collectors
