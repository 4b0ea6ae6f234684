#include "serving/client/fetch.h"

#include <fmt/format.h>

#include <chrono>

#include "core/numbers.h"
#include "serving/client/exchange.h"
#include "serving/response.h"

namespace aaco::serving {
namespace {

constexpr std::size_t kMaxDocument = 16 << 20;

class Fetch final : public Channel::Listener {
 public:
  Fetch(asio::io_context& io, Channel& channel, std::string request) : io_(io), channel_(channel), request_(std::move(request)) {}

  [[nodiscard]] bool over() const { return over_; }
  Fetched& result() { return result_; }

  void on_open(std::int64_t /*connect_ns*/, std::optional<std::int64_t> /*tls_ns*/) override { channel_.send(request_); }
  void on_bytes(std::string_view bytes, std::int64_t /*time_ns*/) override {
    const auto status = response_.feed(bytes, [this](std::string_view body) -> core::Status {
      if (result_.body.size() + body.size() > kMaxDocument)
        return core::fail(core::ErrorCode::exhausted, fmt::format("the reply exceeds {} MiB", kMaxDocument >> 20));
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
  ResponseReader response_;
  Fetched result_;
  bool over_ = false;
};

}  // namespace

core::Result<Fetched> fetch(const Route& route, std::string_view path, std::int64_t timeout_ns) {
  asio::io_context io(1);
  Poller poller(io);
  const auto buffer = std::make_unique<ReadBuffer>();
  const auto channel = std::make_shared<Channel>(io, poller, route, *buffer);
  Fetch fetch(io, *channel,
              request_header(route.target, "GET", path, "Accept: application/json\r\nConnection: close\r\n") + "\r\n");
  channel->listen(&fetch);
  channel->open();
  try {
    io.run_for(std::chrono::nanoseconds(timeout_ns));
  } catch (const std::exception& failure) {
    return core::fail(core::ErrorCode::io, std::string("the event loop failed: ") + failure.what());
  }
  channel->listen(nullptr);
  channel->close();
  io.restart();
  io.poll();  // handlers of what was closed
  if (fetch.over()) return std::move(fetch.result());
  return Fetched{.outcome = Outcome::timeout,
                 .detail = "no complete reply within " + core::format_duration(static_cast<double>(timeout_ns)),
                 .status = 0,
                 .content_type = {},
                 .location = {},
                 .body = {}};
}

}  // namespace aaco::serving
