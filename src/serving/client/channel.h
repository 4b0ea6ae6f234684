#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/result.h"
#include "serving/client/poller.h"
#include "serving/client/tls_session.h"
#include "serving/record.h"
#include "serving/target.h"

namespace aaco::serving {

namespace asio = boost::asio;
using asio::ip::tcp;
using ReadBuffer = std::array<char, 65536>;

// How a server is reached, resolved once.
struct Route {
  Target target;
  std::vector<tcp::endpoint> endpoints;  // of the server or its proxy; the first one works
  std::unique_ptr<asio::ssl::context> tls;
};

// Resolves and connects once, in the caller's thread.
core::Result<Route> find_route(const Target& target, std::int64_t timeout_ns);

// A connection. Its handlers run on the event loop; the listener may replace or drop itself within a call. The socket leaves
// Asio once it is connected and is read through the poller, which costs half as much per chunk.
class Channel final : public std::enable_shared_from_this<Channel>, public Poller::Socket {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_open(std::int64_t connect_ns, std::optional<std::int64_t> tls_ns) = 0;
    // `time_ns` was read when the bytes were, before anything else.
    virtual void on_bytes(std::string_view bytes, std::int64_t time_ns) = 0;
    // The end of the connection; orderly: the server closed it.
    virtual void on_lost(Outcome kind, const std::string& why, bool orderly, std::int64_t time_ns) = 0;
  };

  Channel(asio::io_context& io, Poller& poller, const Route& route, ReadBuffer& buffer);
  ~Channel() override = default;
  void open();
  void listen(Listener* listener) { listener_ = listener; }
  // Returns the time at which the first byte was handed to the system.
  // When it began to read the bytes that on_bytes() gets.
  [[nodiscard]] std::int64_t reading_since_ns() const { return reading_since_ns_; }
  std::int64_t send(std::string text);
  // How long these bytes waited in the kernel before that; empty: it does not tell.
  [[nodiscard]] std::optional<std::int64_t> waited_ns() const { return waited_ns_; }
  void close();
  [[nodiscard]] bool is_open() const { return ready_ && !closed_; }
  // The server has closed it, or sent what nobody asked for, and the event loop has not seen that yet.
  [[nodiscard]] bool is_spent();
  [[nodiscard]] bool used() const { return used_; }  // it has carried a request

 private:
  void connect_tunnel();
  void leave_asio();
  void ready();
  void on_ready(bool readable, bool writable) override;
  void on_readable();
  void take_tls(std::string_view cipher, std::int64_t time_ns, std::int64_t waited_ns);
  void note_part_of_record(bool delivered, std::int64_t time_ns);
  void write_rest();
  void deliver(std::string_view bytes, std::int64_t time_ns);
  void lose(Outcome kind, const std::string& why, bool orderly);

  Poller& poller_;
  const Route& route_;
  ReadBuffer& buffer_;
  tcp::socket socket_;
  core::FileDescriptor file_;  // the same once it has left Asio
  std::unique_ptr<TlsSession> tls_;
  Listener* listener_ = nullptr;
  std::string output_, tunnel_;
  std::int64_t started_ns_ = 0, tls_started_ns_ = 0;
  std::int64_t reading_since_ns_ = 0;  // of the bytes that are delivered
  std::optional<std::int64_t> waited_ns_;
  std::int64_t tls_own_ns_ = 0;                                // of the handshake (SocketWaits)
  std::optional<std::int64_t> part_since_ns_, full_since_ns_;  // a part of a record is here; the socket takes no more
  bool ready_ = false, closed_ = false, used_ = false, writes_ = false;
};

}  // namespace aaco::serving
