#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/handles.h"

namespace aaco::serving {

// Readiness of many sockets through one descriptor of the event loop. Asio takes a system call and a queued operation for each
// wait on a socket; here they are taken once for a batch of sockets.
class Poller {
 public:
  class Socket {
   public:
    virtual ~Socket() = default;
    // May remove itself and others.
    virtual void on_ready(bool readable, bool writable) = 0;
  };

  explicit Poller(boost::asio::io_context& io);
  // Level-triggered. False: the system refused.
  bool add(int socket, std::shared_ptr<Socket> owner);
  void want_write(int socket, bool wanted);
  // Before the socket is closed.
  void remove(int socket);
  // Bytes waited for so long in the kernel until they were read; the longest since the last call of take_read_lag().
  void note_read_lag(std::int64_t ns) { read_lag_ns_ = std::max(read_lag_ns_.value_or(0), ns); }
  std::optional<std::int64_t> take_read_lag() { return std::exchange(read_lag_ns_, std::nullopt); }

 private:
  void arm();
  void dispatch();

  boost::asio::posix::stream_descriptor epoll_;
  std::vector<std::shared_ptr<Socket>> owners_;  // by descriptor
  std::optional<std::int64_t> read_lag_ns_;
};

}  // namespace aaco::serving
