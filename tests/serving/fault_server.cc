#include "tests/serving/fault_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/clock.h"

namespace aaco::serving_test {
namespace {

// One request from the connection; empty at its end. `rest` keeps what came after it.
bool read_request(int fd, std::string& rest, std::string& head, std::string& body) {
  std::size_t end = 0;
  char bytes[65536];
  while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
    const ssize_t size = ::recv(fd, bytes, sizeof bytes, 0);
    if (size <= 0) return false;
    rest.append(bytes, static_cast<std::size_t>(size));
  }
  head = rest.substr(0, end);
  rest.erase(0, end + 4);
  std::size_t length = 0;
  if (const auto at = head.find("Content-Length: "); at != std::string::npos)
    length = std::strtoul(head.c_str() + at + 16, nullptr, 10);
  while (rest.size() < length) {
    const ssize_t size = ::recv(fd, bytes, sizeof bytes, 0);
    if (size <= 0) return false;
    rest.append(bytes, static_cast<std::size_t>(size));
  }
  body = rest.substr(0, length);
  rest.erase(0, length);
  return true;
}

std::int64_t max_tokens_of(const std::string& body) {
  const auto at = body.find("\"max_tokens\":");
  return at == std::string::npos ? 8 : std::strtoll(body.c_str() + at + 13, nullptr, 10);
}

// "plain,period_us=1000" of "POST /plain,period_us=1000/v1/... HTTP/1.1".
std::string scenario_of(const std::string& head) {
  const auto start = head.find(" /") + 2;
  std::string scenario = head.substr(start, head.find('/', start) - start);
  for (auto at = scenario.find("%2C"); at != std::string::npos; at = scenario.find("%2C")) scenario.replace(at, 3, ",");
  return scenario;
}

std::map<std::string, std::int64_t> parameters_of(const std::string& scenario) {
  std::map<std::string, std::int64_t> parameters;
  for (auto at = scenario.find(','); at != std::string::npos; at = scenario.find(',', at + 1)) {
    const std::string field = scenario.substr(at + 1, scenario.find(',', at + 1) - at - 1);
    const auto equals = field.find('=');
    if (equals != std::string::npos) parameters[field.substr(0, equals)] = std::strtoll(field.c_str() + equals + 1, nullptr, 10);
  }
  return parameters;
}

// "plain,models=3": how the list of models fails.
constexpr std::array kModelFaults = {"never",    "html",     "http_500", "garbage",
                                     "http_401", "redirect", "document", "cut_before_header"};

std::string reply(const std::string& status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// /tokenize in vLLM's form (1) or llama.cpp's (2); a token per word.
std::string tokens_of(std::int64_t form, const std::string& body) {
  const std::string key = form == 1 ? "\"prompt\":\"" : "\"content\":\"";
  const auto at = body.find(key);
  if (form == 0 || at == std::string::npos)
    return reply(form == 2 ? "200 OK" : "404 Not Found", "application/json", R"({"tokens":[]})");
  const std::string text = body.substr(at + key.size(), body.find('"', at + key.size()) - at - key.size());
  std::string tokens;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != ' ' && (i == 0 || text[i - 1] == ' ')) tokens += (count++ == 0 ? "" : ",") + std::to_string(i);
  return reply("200 OK", "application/json",
               (form == 1 ? "{\"count\":" + std::to_string(count) + "," : std::string("{")) + "\"tokens\":[" + tokens + "]}");
}

// "plain,picky=1" does not know ignore_eos, 2 not stream_options, 3 neither.
bool refuses_options(const Peer& peer, const std::string& body) {
  const std::int64_t picky = peer.parameter("picky", 0);
  const auto has = [&](const char* option) { return body.find(option) != std::string::npos; };
  return ((picky & 1) != 0 && has("ignore_eos")) || ((picky & 2) != 0 && has("stream_options"));
}

// vLLM's metrics: /metrics,waiting=3,kv_percent=99/
std::string metrics_of(const Peer& peer) {
  const double used = static_cast<double>(peer.parameter("kv_percent", 10)) / 100;
  return reply("200 OK", "text/plain",
               "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} "
               "4.0\nvllm:num_requests_waiting{engine=\"0\"} " +
                   std::to_string(peer.parameter("waiting", 0)) + ".0\nvllm:kv_cache_usage_perc{engine=\"0\"} " +
                   std::to_string(used) + "\n");
}

}  // namespace

FaultServer::FaultServer() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 4096) != 0) std::abort();
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

FaultServer::~FaultServer() {
  stop_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

std::string FaultServer::url(const std::string& scenario) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + scenario + "/v1";
}

std::vector<Served> FaultServer::log() const {
  const std::lock_guard lock(mutex_);
  std::vector<Served> copy;
  for (const auto& served : log_) copy.push_back(*served);
  return copy;
}

void FaultServer::accept_all() {
  while (!stop_) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++connections_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void FaultServer::serve(int fd) {
  std::string rest, head, body;
  while (!stop_ && read_request(fd, rest, head, body)) {
    auto served = std::make_shared<Served>();
    served->received_ns = core::monotonic_ns();
    served->scenario = scenario_of(head);
    served->max_tokens = max_tokens_of(body);
    served->body = body;
    Peer peer(fd, *served, mutex_, stop_, parameters_of(served->scenario));
    const std::string name = served->scenario.substr(0, served->scenario.find(','));
    if (head.find("/tokenize ") != std::string::npos) {
      peer.raw(tokens_of(peer.parameter("tokenize", 0), body));
      continue;
    }
    if (head.starts_with("GET ")) {
      if (const auto fault = static_cast<std::size_t>(peer.parameter("models", 0)); fault > 0 && fault <= kModelFaults.size())
        answer(kModelFaults[fault - 1], peer);
      else if (name == "metrics")
        peer.raw(metrics_of(peer));
      else if (name == "html")
        peer.raw("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>");
      else
        peer.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n{\"data\":[{\"id\":\"faulty\"}]}");
      if (peer.close_after) break;
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      served->index = static_cast<std::int64_t>(log_.size());
      log_.push_back(served);
    }
    if (refuses_options(peer, body))
      peer.raw(reply("400 Bad Request", "application/json", R"({"error":{"message":"unknown field"}})"));
    else if (!answer(name, peer))
      peer.raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    const std::lock_guard lock(mutex_);
    served->finished_ns = core::monotonic_ns();
    if (peer.close_after) break;
  }
  const std::lock_guard lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), fd));
  ::close(fd);
}

std::int64_t Peer::parameter(const std::string& name, std::int64_t otherwise) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : found->second;
}

bool Peer::raw(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t size = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (size <= 0) return false;
    at += static_cast<std::size_t>(size);
  }
  return true;
}

bool Peer::stream_header(const std::string& more) {
  return raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" + more + "\r\n");
}

bool Peer::chunk(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return raw(size + bytes + "\r\n");
}

void Peer::stamp(std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  served_.events.push_back({core::monotonic_ns(), tokens});
}

bool Peer::event(const std::string& data, std::int64_t tokens) {
  stamp(tokens);
  return chunk("data: " + data + line_end + line_end);
}

bool Peer::end() { return raw("0\r\n\r\n"); }

void Peer::sleep_until(std::int64_t time_ns) const {
  while (!stop_ && core::monotonic_ns() < time_ns) {
    const std::int64_t until = std::min(time_ns, core::monotonic_ns() + 100'000'000);  // in pieces, so that it ends when told to
    const timespec time{.tv_sec = until / 1'000'000'000, .tv_nsec = until % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  }
}

void Peer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close_after = true;
}

}  // namespace aaco::serving_test
