#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/chunk.h"

// What the client saw, as it saw it. Times are of the monotonic clock.
namespace aaco::serving {

enum class Outcome : std::uint8_t {
  ok,
  refused,   // no connection: refused, unreachable, unknown name, no file descriptor
  tls,       // the handshake failed
  http_429,  // and other status codes
  http_4xx,
  http_5xx,
  stream_error,  // an error inside the stream
  truncated,     // the stream ended before the answer did
  reset,         // the connection broke
  timeout,
  protocol,   // not HTTP, not an event stream, not the JSON of this API
  cancelled,  // by the client, as planned or because the run was stopped
};
std::string_view to_string(Outcome outcome);

struct RequestRecord {
  std::int64_t request = 0, conversation = 0;
  std::int64_t scheduled_ns = 0, dispatched_ns = 0, admitted_ns = 0;
  std::optional<std::int64_t> sent_ns, headers_ns, first_chunk_ns, first_token_ns, last_token_ns;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> connect_ns, tls_ns;
  Outcome outcome = Outcome::ok;
  std::string detail;
  std::optional<int> http_status;
  std::string finish_reason;
  std::int64_t prompt_tokens_asked = 0, output_tokens_asked = 0;
  Usage usage;
  std::string_view token_source = "usage";  // of usage.output_tokens
  std::int64_t content_chunks = 0, content_bytes = 0;
  bool done = false;         // with [DONE]
  std::int64_t held_ns = 0;  // from the last output or finish reason to [DONE], without it to the end of the response
  bool tool_call = false;    // the content has arguments of one
  bool reasoning = false;    // and text of reasoning
  std::int64_t retries = 0, reconnects = 0;
  std::optional<std::int64_t> server_prompt_ns, server_decode_ns;
};

struct ChunkRecord {
  std::int64_t time_ns = 0;
  std::uint32_t request = 0;  // index of the request within its stage
  std::uint32_t bytes = 0;
  std::uint32_t usage_tokens = 0;  // output tokens so far by continuous usage; 0: not stated
  ChunkKind kind = ChunkKind::other;
  std::uint16_t read_lag_10us = kReadLagUnknown;  // its bytes waited in the kernel for so many 10 us until they were read
  static constexpr std::uint16_t kReadLagUnknown = 0xffff;  // the kernel did not tell; the one below: or longer
  void set_read_lag(std::int64_t ns) {
    read_lag_10us = static_cast<std::uint16_t>(std::min<std::int64_t>((ns + 5'000) / 10'000, kReadLagUnknown - 1));
  }
  [[nodiscard]] std::int64_t read_lag_ns() const { return 10'000 * std::int64_t{read_lag_10us}; }
};

// An event that the client reads and parses for this long may move a result (analytics::llm::kLagFloorNs).
inline constexpr std::int64_t kLongEventNs = 500'000;

// The longest waits of the client's sockets within a window; empty: there was none, or the kernel does not tell.
struct SocketWaits {
  std::optional<std::int64_t> read_lag_ns;    // bytes waited in the kernel until they were read
  std::optional<std::int64_t> write_wait_ns;  // a request waited for room in the socket
  std::optional<std::int64_t> tls_record_ns;  // a part of a TLS record waited for its end
  // The client read and parsed one event, from its first byte to its end: until the first token, and after it. Each of those of
  // kLongEventNs or longer, of which one thread has time for 2,000 a second; where there is none, the longest.
  std::vector<std::int64_t> event_own_ns, gap_own_ns;
  std::optional<std::int64_t> tls_own_ns;  // of a handshake: the server's bytes in the kernel, and the client's computing
};

// Adds an event to those of a window, as SocketWaits keeps them.
void add_own_event(std::vector<std::int64_t>& events, std::int64_t ns);
// Adds the waits of a window to those of another.
void add_waits(SocketWaits& waits, const SocketWaits& more);

// The client's own state over one window of the load.
struct ClientSample {
  std::int64_t time_ns = 0, window_ns = 0;  // end and length
  std::int64_t loop_lag_ns = 0;             // the largest delay of a timer in it
  std::int64_t cpu_ns = 0;                  // of the thread of the event loop
  SocketWaits waits;
  std::optional<std::int64_t> run_queue_ns;  // it was runnable and not running (schedstat)
  std::int64_t open_requests = 0;            // at its end
};

// Grows without ever moving what it has: moving millions of chunks would be a stall in the middle of the load.
class ChunkLog {
 public:
  void add(const ChunkRecord& chunk) {
    if (blocks_.empty() || blocks_.back().size() == kBlock) {
      blocks_.emplace_back();
      blocks_.back().reserve(kBlock);
    }
    blocks_.back().push_back(chunk);
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& block : blocks_)
      for (const ChunkRecord& chunk : block) f(chunk);
  }
  [[nodiscard]] std::int64_t size() const {
    return blocks_.empty() ? 0 : static_cast<std::int64_t>((blocks_.size() - 1) * kBlock + blocks_.back().size());
  }

 private:
  static constexpr std::size_t kBlock = 32768;
  std::vector<std::vector<ChunkRecord>> blocks_;
};

}  // namespace aaco::serving
