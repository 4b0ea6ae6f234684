#include "server/access.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace aaco::server {
namespace {

class HandClock final : public core::Clock {
 public:
  [[nodiscard]] std::int64_t now_ns(core::ClockId) const override { return now; }
  void sleep_until(std::int64_t) const override {}
  std::int64_t now = 0;
};

const std::string kToken(64, 't');
const std::string kCode(64, 'c');

struct Guarded : testing::Test {
  HandClock clock;
  Access access{{kToken, kCode, "aaco_8501"}, {"127.0.0.1:8501", "localhost:8501"}, clock};

  static Request request(Fields headers) {
    Request one;
    one.method = "GET";
    one.peer = "127.0.0.1";
    one.headers = std::move(headers);
    return one;
  }
  int origin(Fields headers) {
    const auto refused = access.refuse_origin(request(std::move(headers)));
    return refused ? refused->status : 200;
  }
  int token(Fields headers) {
    const auto refused = access.refuse_token(request(std::move(headers)));
    return refused ? refused->status : 200;
  }
  int bearer(const std::string& text) { return token({{"authorization", "Bearer " + text}}); }
  Response open(const std::string& code) {
    Request one = request({});
    one.parameters = {{"code", code}};
    return access.open(one);
  }
};

TEST_F(Guarded, OwnHosts) { EXPECT_EQ(origin({{"host", "127.0.0.1:8501"}}) + origin({{"host", "LocalHost:8501"}}), 400); }
TEST_F(Guarded, RefusesOtherHosts) {
  for (const char* host :
       {"", "evil.example", "evil.example:8501", "localhost", "localhost:80", "localhost:8501.evil", "127.0.0.1:8501@evil"})
    EXPECT_EQ(origin({{"host", host}}), 421) << host;
}
TEST_F(Guarded, OwnOrigin) { EXPECT_EQ(origin({{"host", "localhost:8501"}, {"origin", "http://localhost:8501"}}), 200); }
TEST_F(Guarded, RefusesOtherOrigins) {
  for (const char* from :
       {"", "null", "http://evil.example", "http://localhost:8502", "https://localhost:8501", "http://127.0.0.1:8501"})
    EXPECT_EQ(origin({{"host", "localhost:8501"}, {"origin", from}}), 403) << from;
}
TEST_F(Guarded, RefusesRequestsOfOtherSites) {
  EXPECT_EQ(origin({{"host", "localhost:8501"}, {"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(origin({{"host", "localhost:8501"}, {"sec-fetch-site", "same-site"}}), 403);
  EXPECT_EQ(origin({{"host", "localhost:8501"},
                    {"sec-fetch-site", "cross-site"},
                    {"sec-fetch-mode", "navigate"},
                    {"sec-fetch-dest", "iframe"}}),
            403);
}
TEST_F(Guarded, LinksOfOtherSitesMayLeadHere) {
  EXPECT_EQ(origin({{"host", "localhost:8501"},
                    {"sec-fetch-site", "cross-site"},
                    {"sec-fetch-mode", "navigate"},
                    {"sec-fetch-dest", "document"}}),
            200);
}

TEST_F(Guarded, Bearer) { EXPECT_EQ(bearer(kToken), 200); }
TEST_F(Guarded, BearerInAnyCase) { EXPECT_EQ(token({{"authorization", "bearer  " + kToken}}), 200); }
TEST_F(Guarded, Cookie) { EXPECT_EQ(token({{"cookie", "a=b; aaco_8501=" + kToken + "; c=d"}}), 200); }
TEST_F(Guarded, RefusesMissingToken) { EXPECT_EQ(token({}), 401); }
TEST_F(Guarded, RefusesWrongTokens) {
  for (const std::string& wrong : {std::string("x"), kToken + "t", kToken.substr(1), std::string(64, 'T')})
    EXPECT_EQ(bearer(wrong), 401) << wrong;
}
TEST_F(Guarded, RefusesCookieOfAnotherPort) { EXPECT_EQ(token({{"cookie", "aaco_8502=" + kToken}}), 401); }
TEST_F(Guarded, RefusesOtherSchemes) { EXPECT_EQ(token({{"authorization", "Basic " + kToken}}), 401); }

TEST_F(Guarded, ManyWrongTokensBlockTheAddress) {
  for (int i = 0; i < kMaxWrongTokens; ++i) EXPECT_EQ(bearer("wrong"), 401);
  EXPECT_EQ(bearer("wrong"), 429);
  Request other = request({{"authorization", "Bearer wrong"}});
  other.peer = "127.0.0.2";
  EXPECT_EQ(access.refuse_token(other)->status, 401);
  clock.now += kWrongTokenWindow_ns + 1;
  EXPECT_EQ(bearer("wrong"), 401);
}
TEST_F(Guarded, ValidTokenPassesFromABlockedAddress) {
  for (int i = 0; i <= kMaxWrongTokens; ++i) (void)bearer("wrong");
  EXPECT_EQ(bearer(kToken), 200);
  EXPECT_EQ(bearer("wrong"), 429);
}
TEST_F(Guarded, MissingTokensAreNoGuesses) {
  for (int i = 0; i < 3 * kMaxWrongTokens; ++i) EXPECT_EQ(token({}), 401);
  EXPECT_EQ(bearer(kToken), 200);
}

TEST_F(Guarded, LinkWorksOnce) {
  const Response first = open(kCode);
  EXPECT_EQ(first.status, 303);
  const std::string cookie = first.headers.back().second;
  for (const char* part : {"aaco_8501=", "HttpOnly", "SameSite=Strict", "Path=/"})
    EXPECT_NE(cookie.find(part), std::string::npos);
  EXPECT_EQ(open(kCode).status, 403);
}
// Who follows the link again in the same browser is signed in, and gets no error.
TEST_F(Guarded, UsedLinkLeadsASignedInBrowserToTheDashboard) {
  EXPECT_EQ(open(kCode).status, 303);
  Request again = request({{"cookie", "aaco_8501=" + kToken}});
  again.parameters = {{"code", kCode}};
  const Response second = access.open(again);
  EXPECT_EQ(second.status, 303);
  EXPECT_EQ(second.headers, (Fields{{"Location", "/"}}));
  again.headers = {{"cookie", "aaco_8501=" + kCode}};
  EXPECT_EQ(access.open(again).status, 403);
}
TEST_F(Guarded, RefusesWrongCodes) { EXPECT_EQ(open("x").status + open("").status + open(kToken).status, 3 * 403); }
TEST_F(Guarded, RefusesMissingCode) { EXPECT_EQ(access.open(request({})).status, 400); }
TEST_F(Guarded, GuessedCodesBlockTheAddress) {
  for (int i = 0; i < kMaxWrongTokens; ++i) (void)open("x");
  EXPECT_EQ(open("x").status, 429);
  EXPECT_EQ(open(kCode).status, 303);
}
TEST(Access, NoLinkWithoutCode) {
  const HandClock clock;
  Access access({kToken, "", "c"}, {"h"}, clock);
  Request one;
  one.parameters = {{"code", ""}};
  EXPECT_EQ(access.open(one).status, 403);
}

TEST(SameSecret, ComparesWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* wrong : {"", "ab", "abd", "abcd", "xbc"}) EXPECT_FALSE(same_secret(wrong, "abc")) << wrong;
  EXPECT_FALSE(same_secret("", ""));
}
TEST(MakeToken, LongAndDifferent) {
  EXPECT_EQ(make_token().size(), 64U);
  EXPECT_NE(make_token(), make_token());
}

TEST(Access, WithTlsTheOriginIsHttpsAndTheCookieSecure) {
  const core::SystemClock clock;
  Access access({kToken, kCode, "c"}, {"h:1"}, clock, true);
  Request request;
  request.method = "GET";
  request.headers = {{"host", "h:1"}, {"origin", "https://h:1"}};
  EXPECT_FALSE(access.refuse_origin(request));
  request.headers[1].second = "http://h:1";
  EXPECT_TRUE(access.refuse_origin(request));
  request.parameters = {{"code", kCode}};
  const Response response = access.open(request);
  EXPECT_TRUE(std::any_of(response.headers.begin(), response.headers.end(),
                          [](const auto& one) { return one.second.ends_with("; Secure"); }));
}

}  // namespace
}  // namespace aaco::server
