#include "server/refusal_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/hash.h"
#include "core/strings.h"

namespace aaco::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

Request request(std::string path, Fields headers) {
  Request one;
  one.method = "GET";
  for (const std::string_view part : core::split(path, '/')) one.path.emplace_back(part);
  one.headers = std::move(headers);
  return one;
}
const Request kLink = request("open", {{"accept", kBrowser}, {"sec-fetch-dest", "document"}});

TEST(RefusalPage, IsForPeopleOnly) {
  EXPECT_TRUE(wants_page(kLink));
  EXPECT_TRUE(wants_page(request("open", {{"accept", kBrowser}}))) << "browsers do not say so over plain HTTP";
  EXPECT_FALSE(wants_page(request("open", {})));
  EXPECT_FALSE(wants_page(request("open", {{"accept", "*/*"}}))) << "curl";
  EXPECT_FALSE(wants_page(request("open", {{"accept", "application/json"}})));
  EXPECT_FALSE(wants_page(request("open", {{"accept", kBrowser}, {"sec-fetch-dest", "iframe"}})));
  EXPECT_FALSE(wants_page(request("open", {{"accept", kBrowser}, {"sec-fetch-dest", "empty"}}))) << "fetch()";
  Request post = kLink;
  post.method = "POST";
  EXPECT_FALSE(wants_page(post));
}

TEST(RefusalPage, SaysWhatHappenedAndWhatNext) {
  Response refused = refusal(403, "this link was used before", "restart 'aaco dashboard' for a new one");
  refused.headers.emplace_back("Retry-After", "1");
  const auto page = refusal_page(kLink, refused);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 403);
  EXPECT_THAT(page->type, HasSubstr("text/html"));
  EXPECT_EQ(page->headers.front().first, "Retry-After");
  EXPECT_THAT(page->body,
              HasSubstr("<h1>Not signed in</h1>\n<p>This link was used before.</p>\n<p>Restart 'aaco dashboard' for a new "
                        "one.</p>\n<p><a href=\"/\">"));
  EXPECT_THAT(page->body, Not(HasSubstr("schema_version")));
}

TEST(RefusalPage, PeopleHaveNoToken) {
  const auto page = refusal_page(kLink, refusal(401, "missing token", "send 'Authorization: Bearer TOKEN'"));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, HasSubstr("<p>This browser is not signed in"));
  EXPECT_THAT(page->body, HasSubstr("<p>Open the link that 'aaco dashboard' printed."));
  EXPECT_THAT(page->body, Not(HasSubstr("Bearer")));
}

TEST(RefusalPage, NamesOfTheRequestAreText) {
  const auto page = refusal_page(kLink, refusal(404, "no session '</p><script>alert(1)</script>'"));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, Not(HasSubstr("<script>")));
  EXPECT_THAT(page->body, HasSubstr("&lt;script&gt;"));
}

TEST(RefusalPage, WrongHostHasNoLinkToItself) {
  EXPECT_THAT(refusal_page(kLink, refusal(421, "another Host"))->body, Not(HasSubstr("href")));
}

TEST(RefusalPage, AnswersStay) {
  EXPECT_FALSE(refusal_page(kLink, json_response(core::Json::object({{"error", core::Json::object()}}))));
  EXPECT_FALSE(refusal_page(kLink, {.status = 404, .type = "text/plain", .body = "gone"}));
}

std::string base64_of_hex(const std::string& hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits, out;
  for (const char c : hex) {
    const int value = std::stoi(std::string(1, c), nullptr, 16);
    for (int bit = 3; bit >= 0; --bit) bits += (value >> bit) % 2 == 1 ? '1' : '0';
  }
  while (bits.size() % 6 != 0) bits += '0';
  for (std::size_t i = 0; i < bits.size(); i += 6) out += kDigits[std::stoul(bits.substr(i, 6), nullptr, 2)];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

// Else browsers would leave the style out.
TEST(RefusalPage, PolicyAllowsItsStyle) {
  const auto page = refusal_page(kLink, refusal(404, "x"));
  ASSERT_TRUE(page);
  const std::size_t from = page->body.find("<style>") + 7;
  const std::string style = page->body.substr(from, page->body.find("</style>") - from);
  EXPECT_THAT(page->headers.back().second, HasSubstr("'sha256-" + base64_of_hex(core::sha256_hex(style)) + "'"));
}

}  // namespace
}  // namespace aaco::server
