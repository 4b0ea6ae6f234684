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
#include "serving/record.h"

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
  // A wait of a socket; take_waits() has the longest of each since its last call.
  void note(std::optional<std::int64_t> SocketWaits::*which, std::int64_t ns) {
    waits_.*which = std::max((waits_.*which).value_or(0), ns);
  }
  // An event that the client read and parsed itself.
  void note(std::vector<std::int64_t> SocketWaits::*which, std::int64_t ns) { add_own_event(waits_.*which, ns); }
  SocketWaits take_waits() { return std::exchange(waits_, {}); }

 private:
  void arm();
  void dispatch();

  boost::asio::posix::stream_descriptor epoll_;
  std::vector<std::shared_ptr<Socket>> owners_;  // by descriptor
  SocketWaits waits_;
};

}  // namespace aaco::serving
