#include "server/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "core/strings.h"
#include "server/connection.h"
#include "server/hub.h"
#include "server/tls.h"
#include "server/token_file.h"

namespace aaco::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kStopPeriod{100};  // how often a wish to stop is seen
constexpr std::chrono::seconds kGrace{10};             // for answers that are being written

// A job that outlives this process would else keep the port, and connections of clients.
void keep_from_children(int socket) { (void)::fcntl(socket, F_SETFD, FD_CLOEXEC); }

class WebServer final : public Server {
 public:
  WebServer(std::unique_ptr<Hub> hub, tcp::acceptor acceptor, TokenFile token, Listening listening,
            std::unique_ptr<asio::ssl::context> tls, const workflows::Services& services)
      : token_(std::move(token)),
        listening_(std::move(listening)),
        services_(services),
        tls_(std::move(tls)),
        hub_(std::move(hub)),
        acceptor_(std::move(acceptor)),
        timer_(hub_->io()) {}

  [[nodiscard]] const Listening& listening() const override { return listening_; }

  void run() override {
    accept();
    wait_for_stop();
    hub_->io().run();
    hub_->join();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return retry_accept();  // such as too many open files
      keep_from_children(socket.native_handle());
      if (hub_->connections() >= kMaxConnections)
        hub_->count_refused_connection();
      else
        std::make_shared<Connection>(std::make_unique<Transport>(std::move(socket), tls_.get()), *hub_)->start();
      accept();
    });
  }

  void retry_accept() {
    auto timer = std::make_shared<asio::steady_timer>(hub_->io(), kStopPeriod);
    timer->async_wait([this, timer](boost::system::error_code) {
      if (acceptor_.is_open()) accept();
    });
  }

  void wait_for_stop() {
    timer_.expires_after(kStopPeriod);
    timer_.async_wait([this](boost::system::error_code) {
      if (services_.stopping() && acceptor_.is_open()) {
        acceptor_.close();
        deadline_ = std::chrono::steady_clock::now() + kGrace;
        hub_->begin_stop();
      }
      if (acceptor_.is_open()) return wait_for_stop();
      if (hub_->connections() == 0 || std::chrono::steady_clock::now() > deadline_) return hub_->io().stop();
      wait_for_stop();
    });
  }

  TokenFile token_;
  Listening listening_;
  const workflows::Services& services_;
  std::unique_ptr<asio::ssl::context> tls_;
  std::unique_ptr<Hub> hub_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::chrono::steady_clock::time_point deadline_;
};

// A live stream is a descriptor each; the usual limit is 1024.
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 8192;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, kWanted);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

core::Result<tcp::acceptor> bind(const ServeRequest& request, asio::io_context& io) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(request.address, error);
  if (error)
    return core::fail(core::ErrorCode::invalid_argument, "invalid address '" + request.address + "': expected an IP address",
                      "use 127.0.0.1 or ::1");
  if (!address.is_loopback() && !request.insecure && request.tls_certificate.empty())
    return core::fail(
        core::ErrorCode::invalid_argument,
        request.address + " is reachable from other machines, and this server has no TLS: anyone on the way can read the token",
        "use --tls-cert and --tls-key, ssh -L, a proxy with TLS, or --insecure in a trusted network");
  const tcp::endpoint end(address, request.port);
  tcp::acceptor acceptor(io);
  acceptor.open(end.protocol(), error);
  if (!error) keep_from_children(acceptor.native_handle());
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(end, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use)
    return core::fail(core::ErrorCode::conflict, fmt::format("port {} is already in use", request.port),
                      "choose another with --port");
  if (error) return core::fail(core::ErrorCode::io, fmt::format("cannot listen on {}: {}", request.address, error.message()));
  return acceptor;
}

std::string host_text(const tcp::endpoint& end) {
  return end.address().is_v6() ? "[" + end.address().to_string() + "]" : end.address().to_string();
}

core::Result<std::unique_ptr<asio::ssl::context>> tls_of(const ServeRequest& request) {
  if (request.tls_certificate.empty() != request.tls_key.empty())
    return core::fail(core::ErrorCode::invalid_argument, "--tls-cert and --tls-key must be used together");
  if (request.tls_certificate.empty()) return std::unique_ptr<asio::ssl::context>();
  return open_tls(request.tls_certificate, request.tls_key);
}

// Every name that clients may put into Host.
std::vector<std::string> hosts_of(const ServeRequest& request, const tcp::endpoint& end) {
  std::vector<std::string> names = request.host_names;
  names.insert(names.end(), {host_text(end), "localhost", "127.0.0.1", "[::1]"});
  std::vector<std::string> hosts;
  for (const std::string& name : names) {
    hosts.push_back(fmt::format("{}:{}", core::to_lower(name), end.port()));
    if (end.port() == (request.tls_certificate.empty() ? 80 : 443)) hosts.push_back(core::to_lower(name));
  }
  return hosts;
}

}  // namespace

core::Result<std::unique_ptr<Server>> Server::open(const ServeRequest& request, const workflows::Services& services,
                                                   std::function<void(std::string_view)> log) {
  // The hub's io_context is there before the acceptor and goes after it; what guards requests is known once the port is.
  raise_descriptor_limit();
  AACO_ASSIGN(auto tls, tls_of(request));
  auto hub = std::make_unique<Hub>(all_routes(), services, std::move(log));
  AACO_ASSIGN(tcp::acceptor acceptor, bind(request, hub->io()));
  hub->set_fleet(request.fleet);
  const tcp::endpoint end = acceptor.local_endpoint();
  AACO_ASSIGN(TokenFile token, TokenFile::open(request.token_file, end.port(), services.environment, services.paths));
  Secrets secrets{token.token(), request.one_time_link ? make_token() : "", fmt::format("aaco_{}", end.port())};
  Listening listening{fmt::format("{}://{}:{}", tls ? "https" : "http", host_text(end), end.port()), "", token.path()};
  if (!secrets.code.empty()) listening.link = fmt::format("{}/open?code={}", listening.url, secrets.code);
  hub->guard(std::move(secrets), hosts_of(request, end), tls != nullptr);
  AACO_ASSIGN(auto policy, workflows::load_server_policy(request.policy_file, services.paths));
  auto jobs = workflows::Jobs::open(std::move(policy), core::executable_path(), services);
  if (!jobs) listening.no_jobs = jobs.error().message;
  hub->set_jobs(std::move(jobs));
  hub->warm_lists();
  return std::make_unique<WebServer>(std::move(hub), std::move(acceptor), std::move(token), std::move(listening), std::move(tls),
                                     services);
}

}  // namespace aaco::server
