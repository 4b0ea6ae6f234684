#include "serving/client/fetch.h"

#include <fmt/format.h>

#include <chrono>

#include "core/numbers.h"
#include "serving/client/exchange.h"
#include "serving/response.h"
#include "serving/secrets.h"

namespace aaco::serving {
namespace {

class Fetch final : public Channel::Listener {
 public:
  Fetch(asio::io_context& io, Channel& channel, std::string request, std::size_t limit)
      : io_(io), channel_(channel), request_(std::move(request)), limit_(limit) {}

  [[nodiscard]] bool over() const { return over_; }
  Fetched& result() { return result_; }

  void on_open(std::int64_t /*connect_ns*/, std::optional<std::int64_t> /*tls_ns*/) override { channel_.send(request_); }
  void on_bytes(std::string_view bytes, std::int64_t /*time_ns*/) override {
    const auto status = response_.feed(bytes, [this](std::string_view body) -> core::Status {
      if (result_.body.size() + body.size() > limit_)
        return core::fail(core::ErrorCode::exhausted, fmt::format("the reply exceeds {} MiB", limit_ >> 20));
      result_.body += body;
      return {};
    });
    if (!status) return end(Outcome::protocol, status.error().message);
    if (response_.complete()) end(Outcome::ok, {});
  }
  void on_lost(Outcome kind, const std::string& why, bool orderly, std::int64_t /*time_ns*/) override {
    if (orderly && response_.have_header() && response_.close()) return end(Outcome::ok, {});
    end(kind, orderly && kind == Outcome::reset ? "the server closed the connection before its reply was complete" : why);
  }

 private:
  void end(Outcome outcome, std::string detail) {
    if (over_) return;
    over_ = true;
    result_.outcome = outcome;
    result_.detail = std::move(detail);
    result_.status = response_.status();
    result_.content_type = response_.content_type();
    result_.location = response_.location();
    io_.stop();
  }

  asio::io_context& io_;
  Channel& channel_;
  std::string request_;
  std::size_t limit_;
  ResponseReader response_;
  Fetched result_;
  bool over_ = false;
};

std::string wire_text(const Target& target, const FetchRequest& request) {
  std::string more = "Accept: application/json\r\nConnection: close\r\n";
  if (!request.body) return request_header(target, "GET", request.path, more) + "\r\n";
  more += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", request.body->size());
  return request_header(target, "POST", request.path, more) + "\r\n" + *request.body;
}

}  // namespace

core::Result<Fetcher> Fetcher::open(const Target& target, std::int64_t timeout_ns) {
  AACO_ASSIGN(auto route, find_route(target, timeout_ns));
  return Fetcher(std::make_shared<const Route>(std::move(route)));
}

core::Result<Fetched> Fetcher::fetch(const FetchRequest& request) const { return serving::fetch(*route_, request); }

core::Result<Fetched> fetch(const Route& route, const FetchRequest& request) {
  asio::io_context io(1);
  Poller poller(io);
  const auto buffer = std::make_unique<ReadBuffer>();
  const auto channel = std::make_shared<Channel>(io, poller, route, *buffer);
  Fetch fetch(io, *channel, wire_text(route.target, request), request.reply_limit_bytes);
  channel->listen(&fetch);
  channel->open();
  try {
    io.run_for(std::chrono::nanoseconds(request.timeout_ns));
  } catch (const std::exception& failure) {
    return core::fail(core::ErrorCode::io, std::string("the event loop failed: ") + failure.what());
  }
  const bool shook_hands = !route.target.tls || channel->is_open();
  channel->listen(nullptr);
  channel->close();
  io.restart();
  io.poll();  // handlers of what was closed
  if (fetch.over()) {
    Fetched& result = fetch.result();
    result.detail = without_secrets(std::move(result.detail), secrets_of(route.target), request.body.value_or(""));
    return std::move(result);
  }
  return Fetched{.outcome = shook_hands ? Outcome::timeout : Outcome::tls,
                 .detail = (shook_hands ? "no complete reply within " : "no TLS handshake within ") +
                           core::format_duration(static_cast<double>(request.timeout_ns)),
                 .status = 0,
                 .content_type = {},
                 .location = {},
                 .body = {}};
}

}  // namespace aaco::serving
