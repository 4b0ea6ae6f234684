#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/handles.h"
#include "core/result.h"
#include "core/subprocess.h"

namespace aaco::core {

// A child that is spoken to in lines: what is sent arrives on its standard input, what it answers is its standard output. Its
// standard error is kept, up to 64 KiB, for the message where it fails. One thread.
class WorkerProcess {
 public:
  // Starts `command` (its output, timeout and limit are not used).
  static Result<WorkerProcess> start(const Command& command);
  WorkerProcess(WorkerProcess&&) noexcept = default;
  WorkerProcess& operator=(WorkerProcess&&) noexcept = default;
  ~WorkerProcess() = default;  // the child is killed and reaped

  // Fails with io where the child is gone.
  Status send(std::string_view line);
  // The next line, without its end. Fails with io where the child ended before (the message has its last words), with timed_out
  // after `timeout_ns`, with exhausted on a line above 64 MiB.
  Result<std::string> receive(std::int64_t timeout_ns);
  [[nodiscard]] pid_t pid() const { return child_.pid(); }

 private:
  WorkerProcess(Child child, FileDescriptor in, FileDescriptor out, FileDescriptor err)
      : child_(std::move(child)), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}
  [[nodiscard]] tl::unexpected<Error> gone();
  void read_errors();

  Child child_;
  FileDescriptor in_, out_, err_;
  std::string buffer_;  // of out_
  std::string errors_;
};

}  // namespace aaco::core
