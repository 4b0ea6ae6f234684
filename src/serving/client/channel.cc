#include "serving/client/channel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/clock.h"
#include "core/files.h"

namespace aaco::serving {
namespace {

using boost::system::error_code;
using core::monotonic_ns;

constexpr std::int64_t kMaxCertificates = 16 << 20;
constexpr std::int64_t kLongestReadLagNs = 60'000'000'000;  // longer: the real-time clock was set in between

std::string system_message() { return error_code(errno, boost::system::system_category()).message(); }

std::string address_text(const Address& address) { return fmt::format("{}:{}", address.host, address.port); }

core::Status prepare_tls(Route& route) {
  error_code error;
  route.tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  route.tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                         asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  route.tls->set_default_verify_paths(error);
  route.tls->set_verify_mode(asio::ssl::verify_peer, error);
  if (route.target.ca_file.empty()) return {};
  AACO_ASSIGN(const std::string certificates, core::read_file(route.target.ca_file, kMaxCertificates));
  route.tls->add_certificate_authority(asio::buffer(certificates), error);
  if (error || certificates.find("-----BEGIN ") == std::string::npos)
    return core::fail(core::ErrorCode::invalid_input, fmt::format("'{}' has no PEM certificate", route.target.ca_file),
                      "--ca-file expects the certificates of authorities in PEM");
  return {};
}

struct Received {
  ssize_t size = 0;
  std::optional<std::int64_t> arrived_realtime_ns;  // the last of the bytes, in the kernel
};

Received receive(int socket, ReadBuffer& buffer) {
  iovec bytes{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Received received{.size = ::recvmsg(socket, &message, MSG_DONTWAIT), .arrived_realtime_ns = {}};
  const cmsghdr* const note = received.size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (note == nullptr || note->cmsg_level != SOL_SOCKET || note->cmsg_type != SCM_TIMESTAMPNS) return received;
  timespec time{};
  std::memcpy(&time, CMSG_DATA(note), sizeof time);
  received.arrived_realtime_ns = time.tv_sec * 1'000'000'000 + time.tv_nsec;
  return received;
}

// Connects to one endpoint and lets go again.
error_code try_endpoint(const tcp::endpoint& endpoint, std::int64_t timeout_ns) {
  asio::io_context io(1);
  tcp::socket socket(io);
  error_code result = asio::error::timed_out;
  socket.async_connect(endpoint, [&](error_code error) { result = error; });
  io.run_for(std::chrono::nanoseconds(timeout_ns));
  return result;
}

constexpr std::string_view kProxyRemedy = "check http_proxy and https_proxy, or set no_proxy";

}  // namespace

core::Result<Route> find_route(const Target& target, std::int64_t timeout_ns) {
  Route route{.target = target, .endpoints = {}, .tls = nullptr};
  const Address& address = target.proxy ? *target.proxy : target.server;
  const std::string_view whose = target.proxy ? "the proxy " : "";
  if (target.tls) AACO_TRY(prepare_tls(route));
  asio::io_context io(1);
  tcp::resolver resolver(io);
  error_code error;
  const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
  if (error)
    return core::fail(core::ErrorCode::io, fmt::format("cannot resolve {}'{}': {}", whose, address.host, error.message()),
                      target.proxy ? std::string(kProxyRemedy) : "check the host name in --url");
  error = asio::error::host_not_found;
  for (const auto& entry : found) {
    error = try_endpoint(entry.endpoint(), timeout_ns);
    if (error) continue;
    route.endpoints.push_back(entry.endpoint());
    return route;
  }
  const bool late = error == asio::error::timed_out;
  return core::fail(
      late ? core::ErrorCode::timed_out : core::ErrorCode::io,
      fmt::format("cannot connect to {}{}: {}", whose, address_text(address), error.message()),
      target.proxy ? std::string(kProxyRemedy) : "check that the server is running and that the address and port are right");
}

Channel::Channel(asio::io_context& io, Poller& poller, const Route& route, ReadBuffer& buffer)
    : poller_(poller), route_(route), buffer_(buffer), socket_(io) {}

void Channel::open() {
  started_ns_ = monotonic_ns();
  socket_.async_connect(route_.endpoints.front(), [self = shared_from_this()](error_code error) {
    if (self->closed_) return;
    if (error) return self->lose(Outcome::refused, error.message(), false);
    error_code ignored;
    self->socket_.set_option(tcp::no_delay(true), ignored);
    self->socket_.non_blocking(true, ignored);
    if (self->route_.target.tls && self->route_.target.proxy) return self->connect_tunnel();
    self->leave_asio();
  });
}

void Channel::connect_tunnel() {
  const Target& target = route_.target;
  const std::string where = address_text(target.server);
  output_ = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", where);
  if (!target.proxy_authorization.empty()) output_ += fmt::format("Proxy-Authorization: {}\r\n", target.proxy_authorization);
  output_ += "\r\n";
  asio::async_write(socket_, asio::buffer(output_), [self = shared_from_this()](error_code error, std::size_t) {
    if (self->closed_) return;
    if (error) return self->lose(Outcome::refused, error.message(), false);
    asio::async_read_until(self->socket_, asio::dynamic_buffer(self->tunnel_, 16384), "\r\n\r\n",
                           [self](error_code failure, std::size_t) {
                             if (self->closed_) return;
                             const std::string status = self->tunnel_.substr(0, self->tunnel_.find('\r'));
                             if (failure) return self->lose(Outcome::refused, "proxy: " + failure.message(), false);
                             if (status.size() < 12 || status.compare(0, 7, "HTTP/1.") != 0 || status[9] != '2')
                               return self->lose(Outcome::refused, "the proxy refused the tunnel: " + status, false);
                             self->output_.clear();
                             self->leave_asio();
                           });
  });
}

void Channel::leave_asio() {
  error_code error;
  file_ = core::FileDescriptor(socket_.release(error));
  const int on = 1;
  (void)::setsockopt(file_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);  // refused: the lag of reads is not recorded
  if (error || !poller_.add(file_.get(), shared_from_this()))
    return lose(Outcome::refused, "the system cannot wait for the socket", false);
  if (!route_.target.tls) return ready();
  tls_ = std::make_unique<TlsSession>(route_.tls->native_handle(), route_.target.server.host);
  tls_started_ns_ = monotonic_ns();
  tls_->start();
  tls_own_ns_ = monotonic_ns() - tls_started_ns_;
  write_rest();
}

void Channel::ready() {
  ready_ = true;
  const std::int64_t now = monotonic_ns();
  std::optional<std::int64_t> tls_ns;
  if (tls_) tls_ns = now - tls_started_ns_;
  if (listener_ != nullptr) listener_->on_open(now - started_ns_, tls_ns);
}

bool Channel::is_spent() {
  char byte = 0;
  const ssize_t size = ::recv(file_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size > 0 && !tls_);  // with TLS it may be a session ticket
}

void Channel::on_ready(bool readable, bool writable) {
  if (closed_) return;
  if (writable) write_rest();
  if (readable && !closed_) on_readable();
}

void Channel::on_readable() {
  reading_since_ns_ = monotonic_ns();
  const auto [size, arrived_ns] = receive(file_.get(), buffer_);
  const std::int64_t time_ns = monotonic_ns();
  std::int64_t waited_ns = 0;
  waited_ns_.reset();
  if (arrived_ns) {
    waited_ns = core::SystemClock().now_ns(core::ClockId::realtime) - *arrived_ns;
    if (waited_ns < 0 || waited_ns > kLongestReadLagNs) waited_ns = 0;
    waited_ns_ = waited_ns;
    poller_.note(&SocketWaits::read_lag_ns, waited_ns);
  }
  if (size > 0) {
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(size));
    return tls_ ? take_tls(bytes, time_ns, waited_ns) : deliver(bytes, time_ns);
  }
  const bool handshake = tls_ && !ready_;
  if (size == 0)
    return lose(handshake ? Outcome::tls : Outcome::reset,
                handshake ? "the server closed the connection within the TLS handshake" : error_code(asio::error::eof).message(),
                true);
  if (errno != EAGAIN && errno != EINTR) lose(handshake ? Outcome::tls : Outcome::reset, system_message(), false);
}

void Channel::take_tls(std::string_view cipher, std::int64_t time_ns, std::int64_t waited_ns) {
  std::string plain;
  const TlsSession::State state = tls_->take(cipher, plain);
  write_rest();  // of the handshake, or an alert
  const auto self = shared_from_this();
  if (!ready_) {
    tls_own_ns_ += waited_ns + monotonic_ns() - time_ns;
    if (state == TlsSession::State::handshake) return;
    if (state == TlsSession::State::failed) return lose(Outcome::tls, tls_->failure(), false);
    poller_.note(&SocketWaits::tls_own_ns, tls_own_ns_);
    ready();
  }
  if (closed_) return;
  note_part_of_record(!plain.empty(), time_ns);
  if (!plain.empty()) deliver(plain, time_ns);
  if (closed_) return;
  if (state == TlsSession::State::ended) lose(Outcome::reset, error_code(asio::error::eof).message(), true);
  if (state == TlsSession::State::failed) lose(Outcome::reset, tls_->failure(), false);
}

void Channel::note_part_of_record(bool delivered, std::int64_t time_ns) {
  if (part_since_ns_ && delivered)
    poller_.note(&SocketWaits::tls_record_ns, time_ns - *std::exchange(part_since_ns_, std::nullopt));
  const bool part = tls_->has_part_of_record();
  if (part && !part_since_ns_) part_since_ns_ = time_ns;
  if (!part) part_since_ns_.reset();
}

void Channel::deliver(std::string_view bytes, std::int64_t time_ns) {
  if (listener_ != nullptr) return listener_->on_bytes(bytes, time_ns);
  close();  // nothing was asked: whatever this is, the connection cannot be used again
}

std::int64_t Channel::send(std::string text) {
  used_ = true;
  const std::int64_t now = monotonic_ns();
  if (tls_)
    tls_->write(text);
  else
    output_ = std::move(text);
  write_rest();
  return now;
}

// A server may answer (429, 413) and close before it has read everything: a failed write is no failure, its answer is read first.
void Channel::write_rest() {
  if (tls_) output_ += tls_->take_output();
  if (output_.empty()) return;
  const ssize_t size = ::send(file_.get(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool broken = size < 0 && errno != EAGAIN && errno != EINTR;
  output_.erase(0, broken ? output_.size() : static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  const std::int64_t now = monotonic_ns();
  if (!output_.empty() && !full_since_ns_) full_since_ns_ = now;
  if (output_.empty() && full_since_ns_)
    poller_.note(&SocketWaits::write_wait_ns, now - *std::exchange(full_since_ns_, std::nullopt));
  if (writes_ == !output_.empty()) return;
  writes_ = !output_.empty();
  poller_.want_write(file_.get(), writes_);
}

void Channel::lose(Outcome kind, const std::string& why, bool orderly) {
  const std::int64_t now = monotonic_ns();
  Listener* listener = std::exchange(listener_, nullptr);
  close();
  if (listener != nullptr) listener->on_lost(kind, why, orderly, now);
}

void Channel::close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  socket_.close(ignored);
  if (!file_.valid()) return;
  poller_.remove(file_.get());
  file_.reset();
}

}  // namespace aaco::serving
