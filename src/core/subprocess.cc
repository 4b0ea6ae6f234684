#include "core/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/check.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"

namespace aaco::core {
namespace {

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, "cannot create a pipe");
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

int decode_exit(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, const Command& command, int in, int out, int err,
                         int report) {
  if (command.group == Command::Group::own) ::setpgid(0, 0);
  if (in >= 0) ::dup2(in, STDIN_FILENO);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  if (err >= 0) ::dup2(err, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  int problem = 0;
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) problem = errno;
  if (problem == 0) {
    ::execvpe(arguments[0], arguments, environment);
    problem = errno;
  }
  (void)!::write(report, &problem, sizeof problem);
  ::_exit(127);
}

std::vector<std::string> child_environment(const Command& command) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : command.set_environment) replaced = replaced || key == name;
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [key, value] : command.set_environment)
    if (value) variables.push_back(key + "=" + *value);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::int64_t ns_of(const timeval& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_usec * std::int64_t{1'000}; }

ChildUsage usage_of(const rusage& used) { return {ns_of(used.ru_utime), ns_of(used.ru_stime), used.ru_minflt, used.ru_majflt}; }

Result<pid_t> spawn(const Command& command, int in, int out, int err) {
  AACO_CHECK(!command.arguments.empty());
  AACO_ASSIGN(Pipe report, make_pipe());
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = child_environment(command);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "cannot start a process");
  if (pid == 0) become(argument_pointers.data(), environment_pointers.data(), command, in, out, err, report.write.get());
  if (command.group == Command::Group::own) ::setpgid(pid, pid);
  report.write.reset();
  int problem = 0;
  ssize_t reported = 0;
  do reported = ::read(report.read.get(), &problem, sizeof problem);
  while (reported < 0 && errno == EINTR);
  if (reported == sizeof problem) {
    ::waitpid(pid, nullptr, 0);
    return fail_errno(problem, "cannot start " + command.arguments[0],
                      "check that the path is correct and the file is executable");
  }
  return pid;
}

// Reads what is there; false at the end.
bool drain(int fd, std::string& into, std::int64_t limit) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(0, limit - static_cast<std::int64_t>(into.size())));
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

}  // namespace

Result<CommandResult> run_command(const Command& command) {
  Pipe out;
  Pipe err;
  FileDescriptor null;
  int out_fd = -1;
  int err_fd = -1;
  if (command.output == Command::Output::capture) {
    AACO_ASSIGN(out, make_pipe());
    AACO_ASSIGN(err, make_pipe());
    out_fd = out.write.get();
    err_fd = err.write.get();
  } else if (command.output == Command::Output::discard) {
    null = FileDescriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    out_fd = err_fd = null.get();
  }
  AACO_ASSIGN(const pid_t pid, spawn(command, -1, out_fd, err_fd));
  out.write.reset();
  err.write.reset();

  CommandResult result;
  const std::int64_t deadline = command.timeout_ns ? monotonic_ns() + *command.timeout_ns : INT64_MAX;
  std::array<pollfd, 2> waiting = {{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  std::optional<int> status;
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0 || !status) {
    const std::int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000;
    const bool pipes_open = waiting[0].fd >= 0 || waiting[1].fd >= 0;
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, pipes_open ? 100 : 5)));
    if (waiting[0].revents != 0 && !drain(waiting[0].fd, result.output, command.capture_limit_bytes)) waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !drain(waiting[1].fd, result.error_output, command.capture_limit_bytes)) waiting[1].fd = -1;
    int raw = 0;
    if (!status && ::waitpid(pid, &raw, WNOHANG) == pid) status = decode_exit(raw);
    if (monotonic_ns() >= deadline) {
      ::kill(command.group == Command::Group::own ? -pid : pid, SIGKILL);
      result.timed_out = true;
      if (!status && ::waitpid(pid, &raw, 0) == pid) status = decode_exit(raw);
      break;
    }
  }
  result.exit_code = status.value_or(127);
  return result;
}

Result<Child> Child::start(const Command& command) {
  FileDescriptor null;
  int fd = -1;
  if (command.output == Command::Output::discard) {
    null = FileDescriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    fd = null.get();
  }
  const int out = command.output_fd >= 0 ? command.output_fd : fd;
  const int err = command.error_fd >= 0 ? command.error_fd : fd;
  AACO_ASSIGN(const pid_t pid, spawn(command, command.input_fd, out, err));
  return Child(pid, command.group);
}

Result<ChildPipes> Child::start_with_pipes(const Command& command) {
  AACO_ASSIGN(Pipe in, make_pipe());
  AACO_ASSIGN(Pipe out, make_pipe());
  AACO_ASSIGN(Pipe err, make_pipe());
  AACO_ASSIGN(const pid_t pid, spawn(command, in.read.get(), out.write.get(), err.write.get()));
  return ChildPipes{Child(pid, command.group), std::move(in.write), std::move(out.read), std::move(err.read)};
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      target_(std::exchange(other.target_, -1)),
      exit_code_(other.exit_code_),
      usage_(other.usage_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(target_, other.target_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(usage_, other.usage_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0 && !exit_code_) {
    ::kill(target_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

std::optional<int> Child::poll() {
  int raw = 0;
  rusage used{};
  if (pid_ > 0 && !exit_code_ && ::wait4(pid_, &raw, WNOHANG, &used) == pid_) {
    exit_code_ = decode_exit(raw);
    usage_ = usage_of(used);
  }
  return exit_code_;
}

int Child::wait() {
  AACO_CHECK(pid_ > 0);
  int raw = 0;
  while (!exit_code_) {
    rusage used{};
    const pid_t done = ::wait4(pid_, &raw, 0, &used);
    if (done == pid_) {
      exit_code_ = decode_exit(raw);
      usage_ = usage_of(used);
    } else if (done < 0 && errno != EINTR)
      exit_code_ = 127;
  }
  return *exit_code_;
}

void Child::signal(int number) const {
  if (pid_ > 0 && !exit_code_) ::kill(target_, number);
}

std::optional<std::string> find_program(const std::string& name, const std::string& path_variable) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  for (std::string_view folder : split(path_variable, ':')) {
    const std::string candidate = join_path(folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0 && !is_directory(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace aaco::core
