#include "server/stream.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

#include "core/clock.h"

namespace aaco::server {

std::string event_text(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

Stream::Stream(boost::asio::ip::tcp::socket socket, std::function<void(Stream&)> closed)
    : socket_(std::move(socket)), closed_(std::move(closed)) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(boost::asio::socket_base::send_buffer_size(kStreamSendBytes), ignored);
}

void Stream::start(const std::string& head) {
  watch_end();
  queue_.push_back(std::make_shared<const std::string>(head));
  flush();
}

void Stream::deliver(const Event& event) {
  if (!socket_.is_open()) return;
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

void Stream::flush() {
  while (!queue_.empty()) {
    const std::string& text = *queue_.front();
    boost::system::error_code error;
    const std::size_t count = socket_.write_some(boost::asio::buffer(text.data() + offset_, text.size() - offset_), error);
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

void Stream::wait_to_write() {
  waiting_ = true;
  if (stalled_since_ns_ == 0) stalled_since_ns_ = core::monotonic_ns();
  socket_.async_wait(boost::asio::socket_base::wait_write, [self = shared_from_this()](boost::system::error_code error) {
    self->waiting_ = false;
    if (error) return self->close();
    self->flush();
  });
}

// What a client sends on a stream has no meaning; its end does.
void Stream::watch_end() {
  socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](boost::system::error_code error) {
    if (error) return self->close();
    self->socket_.read_some(boost::asio::buffer(self->unread_), error);
    if (error && error != boost::asio::error::would_block) return self->close();
    self->watch_end();
  });
}

void Stream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (const auto closed = std::exchange(closed_, nullptr)) closed(*this);
}

}  // namespace aaco::server
