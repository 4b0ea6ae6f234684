#include <gtest/gtest.h>

#include "server/reader.h"
#include "server/target.h"

namespace aaco::server {
namespace {

std::string path(std::string_view target) {
  const auto parsed = parse_target(target);
  if (!parsed) return "refused";
  std::string text;
  for (const auto& part : parsed->path) text += "/" + part;
  for (const auto& [name, value] : parsed->parameters) text += " " + name + "=" + value;
  return text;
}

TEST(Target, Root) { EXPECT_EQ(path("/"), ""); }
TEST(Target, Segments) { EXPECT_EQ(path("/api/v1/sessions"), "/api/v1/sessions"); }
TEST(Target, DecodesEscapes) { EXPECT_EQ(path("/tag%3Anew%20one"), "/tag:new one"); }
TEST(Target, Parameters) { EXPECT_EQ(path("/a?b=1&c=x+y%26z&d"), "/a b=1 c=x y&z d="); }
TEST(Target, EmptyQuery) { EXPECT_EQ(path("/a?"), "/a"); }
TEST(Target, PlusInPathStays) { EXPECT_EQ(path("/a+b"), "/a+b"); }
TEST(Target, RefusesOtherForms) {
  for (const char* target : {"", "*", "http://evil/", "a/b", "evil:80"}) EXPECT_EQ(path(target), "refused") << target;
}
TEST(Target, RefusesTraversal) {
  for (const char* target :
       {"/../etc/passwd", "/a/..", "/a/./b", "/%2e%2e/x", "/a/%2E%2e", "/..%2fetc", "/a%5c..", "/a\\b", "//a", "/a/"})
    EXPECT_EQ(path(target), "refused") << target;
}
TEST(Target, RefusesDamagedEscapesAndControls) {
  for (const char* target : {"/%", "/%4", "/%zz", "/%00", "/a%0d%0ab", "/a?x=%0a", "/a?%", "/a\x7f"})
    EXPECT_EQ(path(target), "refused") << target;
}
TEST(Target, RefusesFragment) { EXPECT_EQ(path("/a#b"), "refused"); }
TEST(Target, RefusesLongOnes) { EXPECT_EQ(path("/" + std::string(kMaxTargetBytes, 'a')), "refused"); }
TEST(Target, RefusesManyParameters) {
  std::string target = "/a?";
  for (std::size_t i = 0; i <= kMaxParameters; ++i) target += "p=1&";
  EXPECT_EQ(path(target), "refused");
}

// What a request is refused for; empty: accepted.
std::string problem(const std::string& head, const std::string& body = "") {
  const auto request = read_request(head + "\r\n\r\n" + body);
  return request ? "" : request.error().message;
}
bool refused(const std::string& head, const std::string& body = "") { return !problem(head, body).empty(); }
const std::string kGet = "GET /a HTTP/1.1\r\nHost: localhost:8501";

TEST(ReadRequest, Get) {
  const auto request = read_request(kGet + "\r\nX-One: 1\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method + request->path_text(), "GET/a");
  EXPECT_EQ(request->header("x-one"), "1");
  EXPECT_FALSE(request->has_body);
}
TEST(ReadRequest, Body) {
  const auto request = read_request("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->body, "{}");
  EXPECT_TRUE(request->has_body);
}
TEST(ReadRequest, RefusesChunked) {
  EXPECT_NE(problem(kGet + "\r\nTransfer-Encoding: chunked", "0\r\n\r\n").find("Transfer-Encoding"), std::string::npos);
}
TEST(ReadRequest, RefusesWhatFramesTwoWays) {
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", "0\r\n\r\n"));
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length: 1\r\nContent-Length: 2", "ab"));
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length: 1\r\nContent-Length: 1", "a"));
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length: +1", "a"));
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length: -1"));
  EXPECT_TRUE(refused(kGet + "\r\nContent-Length : 1", "a"));
  EXPECT_TRUE(refused(kGet + "\r\nTransfer-Encoding: xchunked"));
}
TEST(ReadRequest, RefusesHostProblems) {
  EXPECT_TRUE(refused("GET /a HTTP/1.1"));
  EXPECT_TRUE(refused(kGet + "\r\nHost: other"));
}
TEST(ReadRequest, RefusesRepeatedCredentials) {
  EXPECT_TRUE(refused(kGet + "\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b"));
  EXPECT_TRUE(refused(kGet + "\r\nOrigin: a\r\nOrigin: b"));
}
TEST(ReadRequest, RefusesFoldedLines) {
  for (const char* fold : {"\r\nX-One: a\r\n b", "\r\nX-One: a\r\n\tb", "\r\nAuthorization: Bearer\r\n token", "\r\n X-One: a"})
    EXPECT_TRUE(refused(kGet + fold)) << fold;
  EXPECT_TRUE(refused("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n 2", "{}"));
  EXPECT_FALSE(refused("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4", "{\n }"));
}
TEST(ReadRequest, TellsWhoWaitsToSendTheBody) {
  const auto request = read_request("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n{}");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->expects_continue);
}
TEST(ReadRequest, RefusesOtherExpectationsAndUpgrade) {
  EXPECT_TRUE(refused(kGet + "\r\nExpect: 100-continue"));
  EXPECT_TRUE(refused("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\nContent-Length: 2", "{}"));
  EXPECT_TRUE(refused(kGet + "\r\nUpgrade: websocket"));
}
TEST(ReadRequest, RefusesLargeHeadAndBody) {
  EXPECT_TRUE(refused(kGet + "\r\nX: " + std::string(kMaxHeadBytes, 'x')));
  EXPECT_TRUE(refused("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(kMaxBodyBytes + 1)));
}
TEST(ReadRequest, RefusesDamaged) {
  for (const char* bytes :
       {"", "GET", "GET / HTTP/3.0\r\n\r\n", "\r\n\r\n", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "\x16\x03\x01\x02"})
    EXPECT_FALSE(read_request(bytes)) << bytes;
  EXPECT_FALSE(read_request("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n{}"));
}

}  // namespace
}  // namespace aaco::server
