#include "collectors/smi/tool_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace aaco::collectors::smi {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{16} << 20;  // what comes beyond is dropped

void make_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// False once the pipe is closed.
bool drain(int fd, std::string& into) {
  std::array<char, 16384> piece = {};
  for (;;) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count > 0 && into.size() < kMaxOutput) into.append(piece.data(), static_cast<std::size_t>(count));
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

}  // namespace

core::Result<ToolRun> ToolRun::start(const std::vector<std::string>& arguments) {
  core::Command command;
  command.arguments = arguments;
  AACO_ASSIGN(core::ChildPipes pipes, core::Child::start_with_pipes(command));
  pipes.input.reset();
  make_non_blocking(pipes.output.get());
  make_non_blocking(pipes.error.get());
  return ToolRun(std::move(pipes));
}

ToolRun::State ToolRun::poll() {
  if (output_open_) output_open_ = drain(pipes_.output.get(), output_);
  if (error_open_) error_open_ = drain(pipes_.error.get(), error_);
  const auto code = pipes_.child.poll();
  if (!code) return State::running;
  // What it wrote last may have come between.
  if (output_open_) drain(pipes_.output.get(), output_);
  if (error_open_) drain(pipes_.error.get(), error_);
  exit_code_ = *code;
  return State::ended;
}

}  // namespace aaco::collectors::smi
