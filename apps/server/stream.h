#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "server/transport.h"

namespace aaco::server {

inline constexpr std::size_t kMaxQueuedEvents = 16;           // of a client that reads slowly; the oldest are left out
inline constexpr int kStreamSendBytes = 16 * 1024;            // that the kernel keeps for a client
inline constexpr std::int64_t kMaxStall_ns = 30'000'000'000;  // without a byte taken: the client is closed

using Event = std::shared_ptr<const std::string>;

// One reader of the live stream, on the thread of the io_context. Sends at once where the socket takes it, and keeps at most
// kMaxQueuedEvents where it does not.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // `closed` is called once, when the client has gone.
  Stream(std::unique_ptr<Transport> transport, std::function<void(Stream&)> closed);
  // Sends the head of the answer and watches for the end.
  void start(const std::string& head);
  void deliver(const Event& event);
  void close();

  [[nodiscard]] std::int64_t sent() const { return sent_; }
  [[nodiscard]] std::int64_t thinned() const { return thinned_; }
  // Since when it has taken nothing; 0: it keeps up.
  [[nodiscard]] std::int64_t stalled_since_ns() const { return stalled_since_ns_; }

 private:
  void flush();
  void flush_tls();
  void wait_to_write();
  void watch_end();
  void watch_end_tls();
  void begin_stall();

  std::unique_ptr<Transport> transport_;
  std::function<void(Stream&)> closed_;
  std::deque<Event> queue_;
  std::size_t offset_ = 0;  // bytes of the first event that were sent
  bool waiting_ = false;    // for the socket, or with TLS for the first event to be sent
  std::int64_t sent_ = 0, thinned_ = 0, told_ = 0;
  std::int64_t stalled_since_ns_ = 0;
  std::array<char, 512> unread_{};
};

// An event in the format of server-sent events.
std::string event_text(std::string_view name, std::string_view data);

}  // namespace aaco::server
