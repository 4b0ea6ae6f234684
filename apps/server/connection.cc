#include "server/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "core/clock.h"

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
  message.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  for (const auto& [name, value] : kHeaders) message.set(name, value);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(!close);
}

Response refusal_of(beast::error_code error) {
  if (error == http::error::header_limit) return refusal(431, "the head of the request is too large");
  if (error == http::error::body_limit) return refusal(413, "the body of the request is too large");
  if (error == beast::error::timeout) return refusal(408, "the request took too long to arrive");
  return refusal(400, "invalid HTTP request");
}

// The client has gone: nobody to answer.
bool is_gone(beast::error_code error) {
  return error == http::error::end_of_stream || error == http::error::partial_message || error == boost::asio::error::eof ||
         error == boost::asio::error::connection_reset || error == boost::asio::error::operation_aborted ||
         error == boost::asio::error::broken_pipe;
}

}  // namespace

Connection::Connection(boost::asio::ip::tcp::socket socket, Hub& hub) : stream_(std::move(socket)), hub_(hub) {
  beast::error_code error;
  const auto end = stream_.socket().remote_endpoint(error);
  peer_ = error ? "-" : end.address().to_string();
  hub_.add(*this);
}

Connection::~Connection() { hub_.remove(*this); }

void Connection::close_if_idle() {
  if (idle_) close();
}

void Connection::close() {
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

void Connection::read_head() {
  idle_ = true;
  request_ = {};
  request_.peer = peer_;
  parser_.emplace();
  limit(*parser_);
  stream_.expires_after(kHeadTime);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_head(error); });
}

void Connection::on_head(beast::error_code error) {
  idle_ = false;
  started_ns_ = core::monotonic_ns();
  if (error == beast::error::timeout) return close();  // its socket is closed already
  if (is_gone(error)) return close();
  if (error) return answer(refusal_of(error), true);
  auto request = server::read_head(*parser_);
  if (!request) return answer(refusal(request.error()), true);
  request_ = std::move(*request);
  request_.peer = peer_;
  auto match = hub_.admit(request_);
  if (!match) return answer(match.error(), request_.has_body || !parser_->keep_alive());
  if (request_.has_body) return read_body(std::move(*match));
  if (match->route->method == "POST") return answer(refusal(411, "expected a body with Content-Length"), true);
  handle(std::move(*match));
}

void Connection::read_body(Match match) {
  stream_.expires_after(kBodyTime);
  http::async_read(stream_, buffer_, *parser_,
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

// The socket goes to the feed, and this ends.
void Connection::stream() {
  if (request_.method == "HEAD") return answer({.type = "text/event-stream"}, true);
  if (hub_.feed().full()) return answer(refusal(503, "too many live streams are open", "close one"), true);
  hub_.log(request_, {.type = "text/event-stream"}, started_ns_);
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";
  for (const auto& [name, value] : kHeaders) head += std::string(name) + ": " + value + "\r\n";
  hub_.feed().accept(stream_.release_socket(), head + "\r\n");
}

void Connection::handle(Match match) {
  if (match.route->lane == Lane::stream) return stream();
  stream_.expires_never();
  hub_.run_handler(std::move(match), [self = shared_from_this()](const Response& response) {
    self->answer(response, !self->parser_->keep_alive());
  });
}

void Connection::answer(const Response& response, bool close) {
  hub_.log(request_, response, started_ns_);
  close = close || hub_.stopping();
  const unsigned version = parser_->get().version() == 10 ? 10 : 11;
  if (request_.method == "HEAD") {
    auto message = std::make_shared<http::response<http::empty_body>>();
    fill(*message, response, version, close);
    message->content_length(response.body.size());
    return write(message);
  }
  auto message = std::make_shared<http::response<http::string_body>>();
  fill(*message, response, version, close);
  message->body() = response.body;
  message->prepare_payload();
  write(message);
}

template <class Message>
void Connection::write(std::shared_ptr<Message> message) {
  stream_.expires_after(kWriteTime);
  const bool close = !message->keep_alive();
  http::async_write(stream_, *message, [self = shared_from_this(), message, close](beast::error_code error, std::size_t) {
    self->on_written(error, close);
  });
}

void Connection::on_written(beast::error_code error, bool close_after) {
  if (error) return close();
  if (!close_after && !hub_.stopping()) return read_head();
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLingerTime);
  linger();
}

// Closing with unread bytes would reset the connection, and the client might lose the answer.
void Connection::linger() {
  stream_.async_read_some(boost::asio::buffer(unread_), [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->close();
    self->linger();
  });
}

}  // namespace aaco::server
