#include "serving/token_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;
using core::monotonic_ns;

constexpr std::int64_t kSpinNs = 2'000'000;   // epoll_wait() counts in ms: closer than this it is not slept
constexpr std::size_t kMaxPending = 1 << 20;  // bytes of a connection that the client does not read; then it is closed

std::string http_chunk(const std::string& events) { return fmt::format("{:x}\r\n{}\r\n", events.size(), events); }
std::string event(const std::string& choice, const std::string& more = {}) {
  return "data: "
         "{\"id\":\"chatcmpl-5e1f7e575e1f7e575e1f7e575e1f7e57\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
         "\"model\":\"self-test\",\"choices\":[" +
         choice + "]" + more + "}\n\n";
}
std::string tail(std::int64_t tokens) {
  return http_chunk(event(R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"length"})")) +
         http_chunk(event("", fmt::format(R"(,"usage":{{"prompt_tokens":8,"completion_tokens":{}}})", tokens))) +
         http_chunk("data: [DONE]\n\n") + "0\r\n\r\n";
}

std::int64_t number_after(std::string_view text, std::string_view key, std::int64_t otherwise) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return otherwise;
  return std::strtoll(std::string(text.substr(at + key.size(), 20)).c_str(), nullptr, 10);
}

std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

core::Error system_error(const char* what) { return {ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno)), {}, {}}; }

struct Connection {
  core::FileDescriptor socket;
  std::string input, output;  // of a request that is not complete; what the socket did not take
  std::int64_t tokens = 0, left = 0, period_ns = 0;
  bool waits_for_room = false;
};

struct Due {
  std::int64_t time_ns = 0;
  int socket = -1;
  std::uint64_t life = 0;  // of the connection: descriptors are used again
};

}  // namespace

struct TokenServer::State {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
                           http_chunk(event(R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null})"));
  const std::string token = http_chunk(event(R"({"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null})"));
  core::FileDescriptor listener, poll;
  int port = 0;
  std::unordered_map<int, std::pair<std::uint64_t, Connection>> connections;
  std::map<std::int64_t, std::deque<Due>> due;  // by period: each queue is in the order of its times
  std::uint64_t lives = 0;
  TokenServerCounts counts;
  std::int64_t counted_cpu_ns = 0, counted_from_ns = 0;

  void accept_all();
  void close(int socket) { connections.erase(socket); }
  bool write(Connection& connection, std::string_view bytes);
  bool take_input(Connection& connection, std::uint64_t life);
  void answer(Connection& connection, std::uint64_t life, std::string_view head_text, std::string_view body);
  bool flush(Connection& connection);
  void write_due();
  [[nodiscard]] int wait_ms() const;
};

bool TokenServer::State::write(Connection& connection, std::string_view bytes) {
  if (connection.output.empty()) {
    const ssize_t size = ::send(connection.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno != EAGAIN) return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  }
  if (bytes.empty()) return true;
  connection.output += bytes;
  if (connection.output.size() > kMaxPending) return false;
  if (connection.waits_for_room) return true;
  connection.waits_for_room = true;
  epoll_event wanted{.events = EPOLLIN | EPOLLOUT, .data = {.fd = connection.socket.get()}};
  return ::epoll_ctl(poll.get(), EPOLL_CTL_MOD, connection.socket.get(), &wanted) == 0;
}

bool TokenServer::State::flush(Connection& connection) {
  if (!connection.output.empty()) {
    const ssize_t size =
        ::send(connection.socket.get(), connection.output.data(), connection.output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN;
    connection.output.erase(0, static_cast<std::size_t>(size));
  }
  if (!connection.output.empty()) return true;
  connection.waits_for_room = false;
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = connection.socket.get()}};
  return ::epoll_ctl(poll.get(), EPOLL_CTL_MOD, connection.socket.get(), &wanted) == 0;
}

void TokenServer::State::accept_all() {
  for (;;) {
    core::FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return;
    const int on = 1, fd = socket.get();
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event wanted{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) continue;
    Connection connection;
    connection.socket = std::move(socket);
    connections.insert_or_assign(fd, std::pair(++lives, std::move(connection)));
  }
}

void TokenServer::State::answer(Connection& connection, std::uint64_t life, std::string_view head_text, std::string_view body) {
  if (head_text.starts_with("GET ")) {
    const std::string models = R"({"object":"list","data":[{"id":"self-test"}]})";
    write(connection, fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                                  models.size(), models));
    return;
  }
  ++counts.requests;
  connection.tokens = connection.left = std::clamp<std::int64_t>(number_after(body, "\"max_tokens\":", 1), 1, 1'000'000);
  connection.period_ns =
      1'000 * std::clamp<std::int64_t>(number_after(head_text.substr(0, 200), "period_us=", 0), 0, 3'600'000'000);
  write(connection, head);
  due[connection.period_ns].push_back({monotonic_ns() + connection.period_ns, connection.socket.get(), life});
}

// False: the connection has ended.
bool TokenServer::State::take_input(Connection& connection, std::uint64_t life) {
  std::array<char, 16384> bytes;
  const ssize_t size = ::recv(connection.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN)) return false;
  connection.input.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  const std::size_t end = connection.input.find("\r\n\r\n");
  if (end == std::string::npos) return connection.input.size() < kMaxPending;
  const std::string_view all = connection.input;
  const auto length = static_cast<std::size_t>(
      std::clamp<std::int64_t>(number_after(all.substr(0, end), "Content-Length: ", 0), 0, std::int64_t{64} << 20));
  if (all.size() < end + 4 + length) return true;
  answer(connection, life, all.substr(0, end), all.substr(end + 4, length));
  connection.input.erase(0, end + 4 + length);
  return true;
}

void TokenServer::State::write_due() {
  for (auto& [period_ns, queue] : due) {
    std::int64_t now = monotonic_ns();
    // Up to what was there at the beginning: a queue without a period would never end.
    for (std::size_t n = queue.size(); n > 0 && queue.front().time_ns <= now; --n) {
      const Due next = queue.front();
      queue.pop_front();
      const auto found = connections.find(next.socket);
      if (found == connections.end() || found->second.first != next.life) continue;
      Connection& connection = found->second.second;
      now = monotonic_ns();
      counts.most_late_ns = std::max(counts.most_late_ns, now - next.time_ns);
      ++counts.tokens;
      const bool last = --connection.left == 0;
      if (!write(connection, last ? token + tail(connection.tokens) : token))
        close(next.socket);
      else if (!last)
        queue.push_back({next.time_ns + period_ns, next.socket, next.life});
    }
  }
}

int TokenServer::State::wait_ms() const {
  std::int64_t first = INT64_MAX;
  for (const auto& [period_ns, queue] : due)
    if (!queue.empty()) first = std::min(first, queue.front().time_ns);
  if (first == INT64_MAX) return 1000;
  return static_cast<int>(std::clamp<std::int64_t>((first - monotonic_ns() - kSpinNs) / 1'000'000, 0, 1000));
}

core::Result<TokenServer> TokenServer::listen() {
  auto state = std::make_unique<State>();
  state->listener = core::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!state->listener.valid() || ::bind(state->listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(state->listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(state->listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return tl::unexpected(system_error("cannot listen on 127.0.0.1"));
  state->port = ntohs(address.sin_port);
  state->poll = core::FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = state->listener.get()}};
  if (!state->poll.valid() || ::epoll_ctl(state->poll.get(), EPOLL_CTL_ADD, state->listener.get(), &wanted) != 0)
    return tl::unexpected(system_error("cannot wait for connections"));
  state->counted_from_ns = monotonic_ns();
  state->counted_cpu_ns = thread_cpu_ns();
  return TokenServer(std::move(state));
}

TokenServer::TokenServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
TokenServer::TokenServer(TokenServer&&) noexcept = default;
TokenServer::~TokenServer() = default;

int TokenServer::port() const { return state_->port; }

core::Status TokenServer::serve_until_readable(int control) {
  State& state = *state_;
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = control}};
  if (::epoll_ctl(state.poll.get(), EPOLL_CTL_ADD, control, &wanted) != 0)
    return tl::unexpected(system_error("cannot wait for input"));
  bool told = false;
  while (!told) {
    std::array<epoll_event, 256> events;
    const int count = ::epoll_wait(state.poll.get(), events.data(), static_cast<int>(events.size()), state.wait_ms());
    if (count < 0 && errno != EINTR) return tl::unexpected(system_error("cannot wait for connections"));
    for (int i = 0; i < count; ++i) {
      const epoll_event& ready = events[static_cast<std::size_t>(i)];
      const int fd = ready.data.fd;
      told = told || fd == control;
      if (fd == control) continue;
      if (fd == state.listener.get()) {
        state.accept_all();
        continue;
      }
      const auto found = state.connections.find(fd);
      if (found == state.connections.end()) continue;
      auto& [life, connection] = found->second;
      bool alive = (ready.events & EPOLLOUT) == 0 || state.flush(connection);
      if (alive && (ready.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) alive = state.take_input(connection, life);
      if (!alive) state.close(fd);
    }
    state.write_due();
  }
  ::epoll_ctl(state.poll.get(), EPOLL_CTL_DEL, control, nullptr);
  return {};
}

TokenServerCounts TokenServer::take_counts() {
  TokenServerCounts counts = std::exchange(state_->counts, {});
  const std::int64_t now = monotonic_ns(), cpu = thread_cpu_ns();
  counts.wall_ns = now - std::exchange(state_->counted_from_ns, now);
  counts.cpu_ns = cpu - std::exchange(state_->counted_cpu_ns, cpu);
  return counts;
}

core::Status run_token_server(int control, int output) {
  AACO_ASSIGN(auto server, TokenServer::listen());
  AACO_TRY(core::write_all(output, fmt::format("{}\n", server.port()), "the output"));
  for (;;) {
    AACO_TRY(server.serve_until_readable(control));
    std::array<char, 4096> line;
    if (::read(control, line.data(), line.size()) <= 0) return {};
    const TokenServerCounts counts = server.take_counts();
    const core::Json answer = core::Json::object({{"tokens", counts.tokens},
                                                  {"requests", counts.requests},
                                                  {"most_late_ns", counts.most_late_ns},
                                                  {"cpu_ns", counts.cpu_ns},
                                                  {"wall_ns", counts.wall_ns}});
    AACO_TRY(core::write_all(output, answer.dump(-1) + "\n", "the output"));
  }
}

}  // namespace aaco::serving
