#include "core/http.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "core/handles.h"

namespace aaco::core {
namespace {

using ::testing::HasSubstr;

// A server on a free port of this machine that answers each connection with `answer`, piece by piece, and then waits until it is
// told to end.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> pieces, bool close = true) : pieces_(std::move(pieces)), close_(close) {
    listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_.get(), 4) != 0)
      throw std::runtime_error("no port");
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    end_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  [[nodiscard]] std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] std::string received() const { return received_; }

 private:
  void serve() {
    const FileDescriptor connection(::accept(listener_.get(), nullptr, nullptr));
    if (!connection.valid()) return;
    std::array<char, 4096> bytes{};
    while (received_.find("END") == std::string::npos && received_.find("GET ") != 0) {
      const ssize_t count = ::read(connection.get(), bytes.data(), bytes.size());
      if (count <= 0) return;
      received_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    for (const auto& piece : pieces_) {
      if (end_ || ::send(connection.get(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    while (!close_ && !end_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::vector<std::string> pieces_;
  bool close_;
  FileDescriptor listener_;
  std::uint16_t port_ = 0;
  std::string received_;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

HttpRequest post(const std::string& url) {
  HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.body = R"({"a": 1} END)";
  request.timeout_ns = 20'000'000'000;
  return request;
}

TEST(Http, PostsAndReadsTheReply) {
  const ScriptedServer server({"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n", "hel", "lo"});
  const auto reply = http_send(post(server.url("/hook?x=1")));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, "hello");
  EXPECT_THAT(server.received(), HasSubstr("POST /hook?x=1 HTTP/1.1"));
  EXPECT_THAT(server.received(), HasSubstr("application/json"));
  EXPECT_THAT(server.received(), HasSubstr(R"({"a": 1})"));
}
TEST(Http, AnErrorStatusIsAReply) {
  const ScriptedServer server({"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"});
  const auto reply = http_send(post(server.url()));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->status, 500);
}
TEST(Http, HangingServerTimesOut) {
  const ScriptedServer server({}, false);
  HttpRequest request = post(server.url());
  request.timeout_ns = 200'000'000;
  const auto reply = http_send(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::timed_out);
}
TEST(Http, SlowServerTimesOut) {
  std::vector<std::string> drops{"HTTP/1.1 200 OK\r\n"};
  for (int i = 0; i < 2000; ++i) drops.push_back("X-Drop: " + std::to_string(i) + "\r\n");
  const ScriptedServer server(drops, false);
  HttpRequest request = post(server.url());
  request.timeout_ns = 300'000'000;
  const auto reply = http_send(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::timed_out);
}
TEST(Http, EndlessResponse) {
  const ScriptedServer server({"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n", std::string(3 << 20, 'x')}, false);
  const auto reply = http_send(post(server.url()));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::exhausted);
}
TEST(Http, ConnectionRefused) {
  std::string url;
  {
    const ScriptedServer server({});
    url = server.url();
  }
  const auto reply = http_send(post(url));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::io);
}
TEST(Http, NoResponse) {
  const ScriptedServer server({"nonsense\r\n\r\n"});
  EXPECT_FALSE(http_send(post(server.url())));
}
TEST(Url, Parts) {
  EXPECT_EQ(*split_url("http://a:80/b?c#d"), std::pair(std::string("http://a:80"), std::string("/b?c")));
  EXPECT_EQ(*split_url("https://a"), std::pair(std::string("https://a"), std::string("/")));
  EXPECT_EQ(split_url("http://[::1]:65535/x")->first, "http://[::1]:65535");
  EXPECT_EQ(*split_url("http://a?x"), std::pair(std::string("http://a"), std::string("/?x")));
}
TEST(Url, InvalidUrls) {
  for (const char* url : {"", "a", "ftp://a", "http://", "http:///x", "http://:80/", "http://a b/", "http://a\r\nX: y",
                          "http://a:", "http://a:0", "http://a:65536/", "http://a:x", "http://[::1]:70000"})
    EXPECT_FALSE(split_url(url)) << url;
}

}  // namespace
}  // namespace aaco::core
