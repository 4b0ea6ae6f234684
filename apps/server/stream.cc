#include "server/stream.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "core/clock.h"

namespace aaco::server {

std::string event_text(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

Stream::Stream(std::unique_ptr<Transport> transport, std::function<void(Stream&)> closed)
    : transport_(std::move(transport)), closed_(std::move(closed)) {
  boost::system::error_code ignored;
  transport_->tcp().expires_never();
  auto& socket = transport_->socket();
  socket.non_blocking(true, ignored);
  socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(boost::asio::socket_base::send_buffer_size(kStreamSendBytes), ignored);
}

void Stream::start(const std::string& head) {
  transport_->has_tls() ? watch_end_tls() : watch_end();
  queue_.push_back(std::make_shared<const std::string>(head));
  flush();
}

void Stream::deliver(const Event& event) {
  if (!transport_->socket().is_open()) return;
  if (queue_.size() >= kMaxQueuedEvents) {
    // The first may be sent in part: the one after it goes.
    queue_.erase(queue_.begin() + 1);
    ++thinned_;
  }
  if (thinned_ > told_ && queue_.size() < 2) {
    queue_.push_back(std::make_shared<const std::string>(event_text("thinned", fmt::format("{{\"lost\":{}}}", thinned_))));
    told_ = thinned_;
  }
  queue_.push_back(event);
  if (!waiting_) flush();
}

void Stream::begin_stall() {
  if (stalled_since_ns_ == 0) stalled_since_ns_ = core::monotonic_ns();
}

void Stream::flush() {
  if (transport_->has_tls()) return flush_tls();
  while (!queue_.empty()) {
    const std::string& text = *queue_.front();
    boost::system::error_code error;
    const std::size_t count =
        transport_->socket().write_some(boost::asio::buffer(text.data() + offset_, text.size() - offset_), error);
    if (error == boost::asio::error::would_block) return wait_to_write();
    if (error) return close();
    stalled_since_ns_ = 0;
    offset_ += count;
    if (offset_ < text.size()) continue;
    offset_ = 0;
    ++sent_;
    queue_.pop_front();
  }
}

// One event after the other: a TLS stream takes one write at a time.
void Stream::flush_tls() {
  if (queue_.empty() || waiting_) return;
  waiting_ = true;
  begin_stall();
  boost::asio::async_write(*transport_, boost::asio::buffer(*queue_.front()),
                           [self = shared_from_this(), event = queue_.front()](boost::system::error_code error, std::size_t) {
                             self->waiting_ = false;
                             if (error) return self->close();
                             self->stalled_since_ns_ = 0;
                             ++self->sent_;
                             self->queue_.pop_front();
                             self->flush_tls();
                           });
}

void Stream::wait_to_write() {
  waiting_ = true;
  begin_stall();
  transport_->socket().async_wait(boost::asio::socket_base::wait_write,
                                  [self = shared_from_this()](boost::system::error_code error) {
                                    self->waiting_ = false;
                                    if (error) return self->close();
                                    self->flush();
                                  });
}

// What a client sends on a stream has no meaning; its end does.
void Stream::watch_end() {
  transport_->socket().async_wait(boost::asio::socket_base::wait_read,
                                  [self = shared_from_this()](boost::system::error_code error) {
                                    if (error) return self->close();
                                    self->transport_->socket().read_some(boost::asio::buffer(self->unread_), error);
                                    if (error && error != boost::asio::error::would_block) return self->close();
                                    self->watch_end();
                                  });
}

void Stream::watch_end_tls() {
  transport_->async_read_some(boost::asio::buffer(unread_),
                              [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                                if (error) return self->close();
                                self->watch_end_tls();
                              });
}

void Stream::close() {
  boost::system::error_code ignored;
  transport_->socket().close(ignored);
  if (const auto closed = std::exchange(closed_, nullptr)) closed(*this);
}

}  // namespace aaco::server
