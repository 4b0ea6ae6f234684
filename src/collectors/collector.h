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

// Where /proc and /sys are looked for; tests point it at a checked-in fake machine.
struct SysRoot {
  std::string path = "/";
  // "/proc/stat" below the root.
  [[nodiscard]] std::string at(std::string_view absolute) const {
    return core::join_path(path, absolute.substr(absolute.starts_with('/')));
  }
  // This machine itself, where system calls may answer what a file answers less exactly.
  [[nodiscard]] bool is_real() const { return path == "/" || path.empty(); }
};

// What is observed: a process and all its descendants, or only the machine where there is no process.
struct Target {
  std::int64_t process_id = 0;  // 0: the machine alone
};

struct CollectorInfo {
  std::string name;      // "proc", "amdgpu", "nvml", "clock"
  std::string measures;  // one line for people
};

// One source of telemetry. Call order: open, then sample as often as wanted, then close; never from two threads at once. A metric
// that is a difference of two readings emits nothing on the first sample. A value that could not be read is not emitted, and
// counted in the account.
class Collector {
 public:
  virtual ~Collector() = default;
  [[nodiscard]] virtual CollectorInfo info() const = 0;
  // Fails with unsupported (and a remedy) where the hardware or the permission is absent.
  virtual core::Status open(const SysRoot& root, const Target& target) = 0;
  // Reads everything that is due and emits rows stamped when they were read.
  virtual void sample(trace::Sink& sink) = 0;
  // Readings so far are no baseline any more (a pause lies between): the next sample is a first one for differences.
  virtual void forget() {}
  virtual void close() = 0;
  // Records read, kept, dropped and why; valid after close too.
  [[nodiscard]] virtual trace::Account account() const = 0;
};

// Every collector there is, unopened.
std::vector<std::unique_ptr<Collector>> builtin_collectors();

}  // namespace aaco::collectors
