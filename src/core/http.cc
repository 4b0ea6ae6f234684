#include "core/http.h"

#include <httplib.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "core/numbers.h"

namespace aaco::core {
namespace {

// What the thread that talks shares with the one that waits. The talk may outlast the wait: a name that is slow to resolve cannot
// be broken off.
struct Talk {
  explicit Talk(const std::string& host) : client(host) {}
  httplib::Client client;
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  bool too_large = false;
  std::string body;
  std::optional<httplib::Result> result;
};

void talk_to_server(const std::shared_ptr<Talk>& talk, const HttpRequest& request, const std::string& path) {
  httplib::Request wire;
  wire.method = request.method;
  wire.path = path;
  for (const auto& [name, value] : request.headers) wire.headers.emplace(name, value);
  if (request.method == "POST") {
    wire.body = request.body;
    wire.headers.emplace("Content-Type", request.content_type);
  }
  wire.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t, std::uint64_t) {
    talk->too_large = static_cast<std::int64_t>(talk->body.size() + size) > request.reply_limit_bytes;
    if (!talk->too_large) talk->body.append(bytes, size);
    return !talk->too_large;
  };
  httplib::Result result = talk->client.send(wire);
  const std::lock_guard lock(talk->mutex);
  talk->result.emplace(std::move(result));
  talk->over = true;
  talk->ended.notify_all();
}

tl::unexpected<Error> failed(const HttpRequest& request, const Talk& talk) {
  if (talk.too_large)
    return fail(ErrorCode::exhausted,
                "the response from " + request.url + " exceeds " + std::to_string(request.reply_limit_bytes) + " bytes");
  return fail(ErrorCode::io, "cannot connect to " + request.url + ": " + httplib::to_string(talk.result->error()),
              "check the URL and that the server is running");
}

// Of "http://host:port"; one without a port has the scheme's.
bool has_valid_port(std::string_view server) {
  const auto host = server.find_last_of("]@/");
  const auto colon = server.find(':', host);
  if (colon == std::string_view::npos) return true;
  const auto port = parse_i64(server.substr(colon + 1));
  return port && *port >= 1 && *port <= 65'535;
}

}  // namespace

Result<std::pair<std::string, std::string>> split_url(const std::string& url) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "'" + url + "' is not a valid HTTP(S) URL", "use http://HOST:PORT/PATH");
  };
  const auto scheme = url.find("://");
  if (scheme == std::string::npos || (url.substr(0, scheme) != "http" && url.substr(0, scheme) != "https")) return refuse();
  if (url.find_first_of(" \t\r\n") != std::string::npos) return refuse();
  const auto slash = url.find_first_of("/?#", scheme + 3);
  const std::string host = url.substr(0, slash);
  if (host.size() == scheme + 3 || host[scheme + 3] == ':' || !has_valid_port(host)) return refuse();
  std::string path = slash == std::string::npos ? "/" : url.substr(slash);
  path = path.substr(0, path.find('#'));
  if (path.empty() || path.front() != '/') path.insert(0, "/");
  return std::pair(host, path);
}

Result<HttpReply> http_send(const HttpRequest& request) {
  AACO_ASSIGN(const auto place, split_url(request.url));
  if (request.method != "GET" && request.method != "POST")
    return fail(ErrorCode::invalid_argument, "unsupported HTTP method '" + request.method + "': use GET or POST");
  const auto talk = std::make_shared<Talk>(place.first);
  if (!talk->client.is_valid()) return fail(ErrorCode::invalid_argument, "'" + request.url + "' is not a valid HTTP(S) URL");
  const auto timeout = std::chrono::nanoseconds(request.timeout_ns);
  // Later than the deadline below, so that it is this which says that time is up.
  const auto late = timeout + std::chrono::seconds(1);
  talk->client.set_connection_timeout(late);
  talk->client.set_read_timeout(late);
  talk->client.set_write_timeout(late);
  std::thread([talk, request, path = place.second] { talk_to_server(talk, request, path); }).detach();
  std::unique_lock lock(talk->mutex);
  if (!talk->ended.wait_for(lock, timeout, [&] { return talk->over; })) {
    lock.unlock();
    talk->client.stop();
    return fail(ErrorCode::timed_out,
                request.url + " did not respond within " + std::to_string(request.timeout_ns / 1'000'000) + " ms",
                "increase the timeout or check the server");
  }
  if (!*talk->result) return failed(request, *talk);
  return HttpReply{talk->result->value().status, std::move(talk->body)};
}

}  // namespace aaco::core
