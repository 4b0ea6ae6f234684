#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::core {

struct Command {
  std::vector<std::string> arguments;                                               // arguments[0] is looked up in PATH
  std::string directory;                                                            // empty: this process's own
  std::vector<std::pair<std::string, std::optional<std::string>>> set_environment;  // empty value: unset
  enum class Output { inherit, capture, discard } output = Output::capture;         // capture: standard output and error apart
  std::optional<std::int64_t> timeout_ns;                                           // then it and its process group are killed
  std::int64_t capture_limit_bytes = std::int64_t{64} << 20;                        // what comes beyond is dropped
  // own: a process group of its own, so that a signal reaches all of it. callers: this process's group, for a program that
  // shares the terminal (a group of its own may not read it); a signal then reaches the program alone.
  enum class Group { own, callers } group = Group::own;
  // Open descriptors that become the streams of a child of Child::start; -1: as `output` says.
  int input_fd = -1, output_fd = -1, error_fd = -1;
};

struct CommandResult {
  int exit_code = 0;  // 128 + signal number for one that died of a signal, as shells have it
  bool timed_out = false;
  std::string output;
  std::string error_output;
};

// Runs to the end. Fails only where the program could not be started (not_found, permission).
Result<CommandResult> run_command(const Command& command);

// What an ended child used, with its descendants that were waited for: those that no sampler was quick enough for, too.
struct ChildUsage {
  std::int64_t user_ns = 0, system_ns = 0;  // CPU time
  std::int64_t minor_faults = 0, major_faults = 0;
};

struct ChildPipes;

// A child under observation: started stopped or running, waited for without blocking.
class Child {
 public:
  static Result<Child> start(const Command& command);  // Output::capture is not for this
  static Result<ChildPipes> start_with_pipes(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // kills and reaps what still runs

  [[nodiscard]] pid_t pid() const { return pid_; }
  // The exit code once the child has ended, empty while it runs.
  std::optional<int> poll();
  int wait();
  // Empty while it runs.
  [[nodiscard]] const std::optional<ChildUsage>& usage() const { return usage_; }
  void signal(int number) const;

 private:
  Child(pid_t pid, Command::Group group) : pid_(pid), target_(group == Command::Group::own ? -pid : pid) {}
  pid_t pid_ = -1;
  pid_t target_ = -1;  // whom a signal reaches, as kill takes it
  std::optional<int> exit_code_;
  std::optional<ChildUsage> usage_;
};

// A child whose standard streams are ours: what is written to `input` it reads.
struct ChildPipes {
  Child child;
  FileDescriptor input, output, error;
};

// The program's full path by PATH, or empty.
std::optional<std::string> find_program(const std::string& name, const std::string& path_variable);

}  // namespace aaco::core
