#include "core/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/clock.h"
#include "core/strings.h"

namespace aaco::core {
namespace {

constexpr std::size_t kMaxErrorBytes = 64 << 10;
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

// Sent by a person, a shell or a supervisor, never by a defect.
bool asks_to_end(int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const Command& command) {
  AACO_ASSIGN(ChildPipes pipes, Child::start_with_pipes(command));
  ::fcntl(pipes.error.get(), F_SETFL, O_NONBLOCK);
  return WorkerProcess(std::move(pipes.child), std::move(pipes.input), std::move(pipes.output), std::move(pipes.error));
}

void WorkerProcess::read_errors() {
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t count = ::read(err_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    errors_.append(bytes.data(), static_cast<std::size_t>(count));
    if (errors_.size() > kMaxErrorBytes) errors_.erase(0, errors_.size() - kMaxErrorBytes);
  }
}

tl::unexpected<Error> WorkerProcess::gone() {
  in_.reset();
  read_errors();
  const int code = child_.wait();
  read_errors();
  std::string message = "the worker exited unexpectedly with code " + std::to_string(code);
  if (code == 128 + SIGKILL)
    message = "the worker was killed (signal 9), by the out-of-memory killer or another process";
  else if (const char* name = code > 128 ? ::sigdescr_np(code - 128) : nullptr; name != nullptr)
    message = std::string(asks_to_end(code - 128) ? "the worker was asked to end" : "the worker crashed") + " (signal " +
              std::to_string(code - 128) + ", " + name + ")";
  const std::string_view words = trim(errors_);
  if (!words.empty()) message += ": " + std::string(words.substr(words.size() - std::min<std::size_t>(words.size(), 2000)));
  return fail(ErrorCode::io, std::move(message));
}

Status WorkerProcess::send(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(in_.get(), text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return gone();
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::string> WorkerProcess::receive(std::int64_t timeout_ns) {
  const std::int64_t deadline = monotonic_ns() + timeout_ns;
  std::size_t searched = 0;
  for (;;) {
    if (const auto end = buffer_.find('\n', searched); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > kMaxLineBytes) return fail(ErrorCode::exhausted, "the worker returned an unterminated line");
    std::array<pollfd, 2> waiting = {{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
    const std::int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000;
    if (left_ms <= 0) return fail(ErrorCode::timed_out, "the worker did not respond in time");
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left_ms, 1000)));
    if (waiting[1].revents != 0) read_errors();
    if (waiting[0].revents == 0) continue;
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(out_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return gone();
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace aaco::core
