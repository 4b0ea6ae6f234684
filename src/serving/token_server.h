#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::serving {

// What the server did since the last call of take_counts().
struct TokenServerCounts {
  std::int64_t tokens = 0, requests = 0;
  std::int64_t most_late_ns = 0;  // of a token, behind its time
  std::int64_t cpu_ns = 0, wall_ns = 0;
};

// The server that `aaco llm --self-test` measures the client against: it speaks the streaming API, writes each token by itself on
// a fixed schedule, and costs as little as it can. One thread with a loop that spins while a token is due soon. The first part of
// the path has the schedule: http://127.0.0.1:PORT/period_us=10000/v1 is a token each 10 ms for each request, after the first
// one; all answers are as long as max_tokens.
class TokenServer {
 public:
  // On a free port of 127.0.0.1.
  static core::Result<TokenServer> listen();
  TokenServer(TokenServer&&) noexcept;
  ~TokenServer();
  [[nodiscard]] int port() const;
  // Serves until `control` is readable; fails where the system refuses to wait for connections.
  core::Status serve_until_readable(int control);
  TokenServerCounts take_counts();

 private:
  struct State;
  explicit TokenServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// As a process: prints its port, answers each line of `control` with its counts as JSON, and returns at the end of its input.
core::Status run_token_server(int control, int output);

}  // namespace aaco::serving
