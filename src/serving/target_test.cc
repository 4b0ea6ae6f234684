#include "serving/target.h"

#include <gtest/gtest.h>

#include <map>

namespace aaco::serving {
namespace {

Target target(const std::string& url, const core::Environment& environment = {}) {
  return parse_target(url, environment).value();
}
core::Environment variables(const std::map<std::string, std::string>& values) { return core::Environment(values); }
bool refused(const std::string& url) { return !parse_target(url, core::Environment()); }

TEST(Target, HostPortAndPath) {
  const Target read = target("http://localhost:8000/v1/");
  EXPECT_EQ(read.server, (Address{"localhost", 8000}));
  EXPECT_EQ(read.base_path, "/v1");
  EXPECT_EQ(read.url(), "http://localhost:8000/v1");
}
TEST(Target, DefaultPorts) {
  EXPECT_EQ(target("http://a").server.port, 80);
  EXPECT_EQ(target("https://a/v1").server.port, 443);
  EXPECT_EQ(target("https://a/v1").host_header(), "a");
}
TEST(Target, Ipv6) { EXPECT_EQ(target("http://[::1]:8000/v1").host_header(), "[::1]:8000"); }
TEST(Target, ProxyOfEnvironment) {
  const Target read = target("http://server/v1", variables({{"http_proxy", "http://user:secret@proxy:3128"}}));
  EXPECT_EQ(read.proxy, (Address{"proxy", 3128}));
  EXPECT_EQ(read.proxy_authorization, "Basic dXNlcjpzZWNyZXQ=");
}
TEST(Target, NoProxyExcludesHost) {
  EXPECT_FALSE(
      target("http://localhost/v1", variables({{"HTTP_PROXY", "proxy:1"}, {"NO_PROXY", "example.org, localhost"}})).proxy);
}
TEST(Target, NoProxyExcludesDomain) {
  EXPECT_FALSE(target("http://a.b.c/v1", variables({{"http_proxy", "proxy:1"}, {"no_proxy", ".b.c"}})).proxy);
}
TEST(Target, NoProxyOfOtherDomain) {
  EXPECT_TRUE(target("http://ab.c/v1", variables({{"http_proxy", "proxy:1"}, {"no_proxy", "b.c"}})).proxy);
}
TEST(Target, RefusesOtherSchemes) { EXPECT_TRUE(refused("ftp://a/v1")); }
TEST(Target, RefusesMissingScheme) { EXPECT_TRUE(refused("localhost:8000/v1")); }
TEST(Target, RefusesMissingHost) { EXPECT_TRUE(refused("http:///v1")); }
TEST(Target, RefusesBadPort) { EXPECT_TRUE(refused("http://a:99999/v1") && refused("http://a:x/v1") && refused("http://a:/v1")); }
TEST(Target, RefusesUserInformation) { EXPECT_TRUE(refused("http://user:secret@a/v1")); }
TEST(Target, QueryGoesWithEveryRequest) {
  const Target read = target("https://a/openai/v1/?api-version=2024-12-01-preview&x");
  EXPECT_EQ(read.base_path, "/openai/v1");
  EXPECT_EQ(read.request_target("/models"), "/openai/v1/models?api-version=2024-12-01-preview&x");
  EXPECT_EQ(read.url("/models"), "https://a/openai/v1/models?api-version=2024-12-01-preview&x");
}
TEST(Target, QueryThroughAProxy) {
  const Target read = target("http://server/v1?a=b", variables({{"http_proxy", "http://proxy:3128"}}));
  EXPECT_EQ(read.request_target("/chat/completions"), "http://server/v1/chat/completions?a=b");
}
TEST(Target, SecretsOfAQueryAreNotShown) {
  const Target read = target("http://a/v1?api-key=abc%2Fdef&v=1&state=0123456789abcdef0123");
  EXPECT_EQ(read.url(), "http://a/v1?api-key=(removed)&v=1&state=(removed)");
  EXPECT_EQ(read.request_target("/x"), "/v1/x?api-key=abc%2Fdef&v=1&state=0123456789abcdef0123");
}
TEST(Target, EmptyQueryYieldsNoQuery) { EXPECT_EQ(target("http://a/v1?").request_target("/x"), "/v1/x"); }
TEST(Target, RefusesFragment) { EXPECT_TRUE(refused("http://a/v1#x") && refused("http://a/v1?a=b#x")); }
TEST(Target, RefusesWhiteSpace) { EXPECT_TRUE(refused("http://a/v1 x") && refused("http://a/v1\r\nX: y")); }

TEST(Header, NameAndValue) {
  EXPECT_EQ(parse_header("X-Key:  a b ").value(), (std::pair<std::string, std::string>("X-Key", "a b")));
}
TEST(Header, RefusesMissingColon) { EXPECT_FALSE(parse_header("X-Key")); }
TEST(Header, RefusesBadName) { EXPECT_FALSE(parse_header("X Key: 1")); }
TEST(Header, RefusesLineEndWithoutNamingTheValue) {
  const auto header = parse_header("X-Key: secret\r\nX-Other: 1");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().text().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace aaco::serving
