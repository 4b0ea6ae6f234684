#include "server/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "core/clock.h"
#include "server/reception.h"
#include "server/refusal_page.h"

namespace aaco::server {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// What every answer has; a page brings its own policy.
constexpr std::pair<const char*, const char*> kHeaders[] = {{"Cache-Control", "no-store"},
                                                            {"X-Content-Type-Options", "nosniff"},
                                                            {"Referrer-Policy", "same-origin"},
                                                            {"Cross-Origin-Resource-Policy", "same-origin"},
                                                            {"Cross-Origin-Opener-Policy", "same-origin"},
                                                            {"X-Frame-Options", "SAMEORIGIN"}};

template <class Message>
void fill(Message& message, const Response& response, unsigned version, bool close) {
  message.version(version);
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.type);
  message.set("Content-Security-Policy",
              "default-src 'none'; frame-ancestors 'self'");  // the dashboard frames pages, and refusals in their place
  for (const auto& [name, value] : kHeaders) message.set(name, value);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(!close);
}

}  // namespace

Response refusal_of(beast::error_code error) {
  if (error == http::error::header_limit) return refusal(431, "the head of the request is too large");
  if (error == http::error::body_limit) return refusal(413, "the body of the request is too large");
  if (error == beast::error::timeout) return refusal(408, "the request took too long to arrive");
  return refusal(400, "invalid HTTP request");
}

bool is_gone(beast::error_code error) {
  return error == http::error::end_of_stream || error == http::error::partial_message || error == boost::asio::error::eof ||
         error == boost::asio::error::connection_reset || error == boost::asio::error::operation_aborted ||
         error == boost::asio::error::broken_pipe;
}

Connection::Connection(std::unique_ptr<Transport> transport, Hub& hub) : transport_(std::move(transport)), hub_(hub) {
  beast::error_code error;
  const auto end = transport_->socket().remote_endpoint(error);
  peer_ = error ? "-" : end.address().to_string();
  hub_.add(*this);
}

Connection::~Connection() { hub_.remove(*this); }

void Connection::start() {
  if (!transport_->has_tls()) return read_head();
  transport_->tcp().expires_after(kHeadTime);
  transport_->async_handshake([self = shared_from_this()](beast::error_code error) {
    if (error) return self->close();
    self->read_head();
  });
}

void Connection::close_if_idle() {
  if (idle_) close();
}

void Connection::close() {
  beast::error_code ignored;
  transport_->socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  transport_->tcp().close();
}

void Connection::read_head() {
  idle_ = true;
  request_ = {};
  request_.peer = peer_;
  parser_.emplace();
  folded_ = false;
  head_bytes_ = 0;
  limit_head(*parser_);
  transport_->tcp().expires_after(kHeadTime);
  parse_head();
}

// Beast joins folded lines while it parses, so that only the bytes tell of them.
void Connection::parse_head() {
  beast::error_code error = http::error::need_more;
  if (buffer_.size() > 0) {
    const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    const std::size_t used = parser_->put(buffer_.data(), error);
    folded_ = folded_ || has_folded_line(bytes.substr(0, used));
    head_bytes_ += used;
    if (head_bytes_ > kMaxHeadBytes) error = http::error::header_limit;  // Beast looks at one line at a time
    buffer_.consume(used);
  }
  if (error != http::error::need_more) return on_head(error);
  transport_->async_read_some(buffer_.prepare(kReadBytes),
                              [self = shared_from_this()](beast::error_code failed, std::size_t count) {
                                if (failed) return self->on_head(failed);
                                self->buffer_.commit(count);
                                self->parse_head();
                              });
}

void Connection::on_head(beast::error_code error) {
  idle_ = false;
  started_ns_ = core::monotonic_ns();
  if (error == beast::error::timeout) return close();  // its socket is closed already
  if (is_gone(error)) return close();
  version_ = parser_->get().version() == 10 ? 10 : 11;
  keep_alive_ = !error && parser_->keep_alive();
  if (error) return answer(refusal_of(error), true);
  if (folded_) return answer(refusal(400, kFoldedLine), true);
  auto request = server::read_head(*parser_);
  if (!request) return answer(refusal(request.error()), true);
  request_ = std::move(*request);
  request_.peer = peer_;
  auto match = hub_.admit(request_);
  if (!match) return answer(match.error(), request_.has_body || !keep_alive_);
  const bool uploads = match->route->lane == Lane::upload;
  if (!request_.has_body && match->route->method != "GET")
    return answer(refusal(411, "expected a body with Content-Length"), true);
  if (request_.body_bytes > (uploads ? hub_.max_upload_bytes() : std::int64_t{kMaxBodyBytes}))
    return answer(refusal_of(http::error::body_limit), true);
  if (!request_.has_body && !uploads) return handle(std::move(*match));
  if (request_.expects_continue && version_ == 11 && buffer_.size() == 0) return ask_for_body(std::move(*match));
  take_body(std::move(*match));
}

void Connection::ask_for_body(Match match) {
  static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  transport_->tcp().expires_after(kWriteTime);
  boost::asio::async_write(*transport_, boost::asio::buffer(kGoOn.data(), kGoOn.size()),
                           [self = shared_from_this(), match = std::move(match)](beast::error_code error, std::size_t) mutable {
                             if (error) return self->close();
                             self->take_body(std::move(match));
                           });
}

void Connection::take_body(Match match) {
  if (match.route->lane == Lane::upload) return receive(match);
  read_body(std::move(match));
}

void Connection::read_body(Match match) {
  transport_->tcp().expires_after(kBodyTime);
  http::async_read(*transport_, buffer_, *parser_,
                   [self = shared_from_this(), match = std::move(match)](beast::error_code error, std::size_t) mutable {
                     if (error == beast::error::timeout || is_gone(error)) return self->close();
                     if (error) return self->answer(refusal_of(error), true);
                     self->request_.body = std::move(self->parser_->get().body());
                     auto parameters = body_parameters(*match.route, self->request_);
                     if (!parameters) return self->answer(parameters.error(), true);
                     match.call.parameters = std::move(*parameters);
                     self->handle(std::move(match));
                   });
}

void Connection::receive(const Match& match) {
  auto upload = hub_.begin_upload(match.call.text("name"));
  if (!upload) return answer(upload.error(), true);
  const auto reception = std::make_shared<Reception>(*transport_, hub_, buffer_, std::move(*parser_), std::move(*upload),
                                                     [self = shared_from_this()](std::optional<Response> response) {
                                                       if (!response) return self->close();
                                                       self->answer(*response, response->status >= 400 || !self->keep_alive_);
                                                     });
  reception->read();
}

// The socket goes to the feed, and this ends.
void Connection::stream() {
  if (request_.method == "HEAD") return answer({.type = "text/event-stream"}, true);
  if (hub_.feed().full()) return answer(refusal(503, "too many live streams are open", "close one"), true);
  hub_.log(request_, {.type = "text/event-stream"}, started_ns_);
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";
  for (const auto& [name, value] : kHeaders) head += std::string(name) + ": " + value + "\r\n";
  hub_.feed().accept(std::move(transport_), head + "\r\n");
}

void Connection::handle(Match match) {
  if (match.route->lane == Lane::stream) return stream();
  transport_->tcp().expires_never();
  hub_.run_handler(std::move(match),
                   [self = shared_from_this()](const Response& response) { self->answer(response, !self->keep_alive_); });
}

void Connection::answer(const Response& given, bool close) {
  const auto page = wants_page(request_) ? refusal_page(request_, given) : std::nullopt;
  const Response& response = page ? *page : given;
  hub_.log(request_, response, started_ns_);
  close = close || hub_.stopping();
  if (request_.method == "HEAD") {
    auto message = std::make_shared<http::response<http::empty_body>>();
    fill(*message, response, version_, close);
    message->content_length(response.body.size());
    return write(message);
  }
  auto message = std::make_shared<http::response<http::string_body>>();
  fill(*message, response, version_, close);
  message->body() = response.body;
  message->prepare_payload();
  write(message);
}

template <class Message>
void Connection::write(std::shared_ptr<Message> message) {
  transport_->tcp().expires_after(kWriteTime);
  const bool close = !message->keep_alive();
  http::async_write(*transport_, *message, [self = shared_from_this(), message, close](beast::error_code error, std::size_t) {
    self->on_written(error, close);
  });
}

void Connection::on_written(beast::error_code error, bool close_after) {
  if (error) return close();
  if (!close_after && !hub_.stopping()) return read_head();
  transport_->tcp().expires_after(kLingerTime);
  if (!transport_->has_tls()) return end();
  transport_->async_shutdown([self = shared_from_this()](beast::error_code) { self->end(); });
}

void Connection::end() {
  beast::error_code ignored;
  transport_->socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  linger();
}

// Closing with unread bytes would reset the connection, and the client might lose the answer.
void Connection::linger() {
  transport_->tcp().async_read_some(boost::asio::buffer(unread_),
                                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                                      if (error) return self->close();
                                      self->linger();
                                    });
}

}  // namespace aaco::server
