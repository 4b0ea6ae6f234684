#include "serving/secrets.h"

#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

constexpr std::string_view kChat = R"({"model":"m","messages":[{"role":"user","content":"my password is hunter2 and more"}]})";

TEST(Secrets, KeyIsRemoved) {
  EXPECT_EQ(without_secrets("bad key: Bearer sk-abcdefgh, twice sk-abcdefgh", {"sk-abcdefgh"}, "{}"),
            "bad key: Bearer (removed), twice (removed)");
}
TEST(Secrets, CutKeyIsRemoved) { EXPECT_EQ(without_secrets("bad key: sk-abcde", {"sk-abcdefgh"}, "{}"), "bad key: (removed)"); }
TEST(Secrets, PromptOfAChatIsRemoved) {
  EXPECT_EQ(without_secrets("invalid: 'my password is hunter2 and more'", {}, kChat), "invalid: '(removed)'");
}
TEST(Secrets, CutPromptIsRemoved) {
  EXPECT_EQ(without_secrets("invalid: password is hunter2 an", {}, kChat), "invalid:(removed)");
}
TEST(Secrets, PromptOfACompletionIsRemoved) {
  EXPECT_EQ(without_secrets("invalid: one two three four five", {}, R"({"prompt":"one two three four five"})"),
            "invalid: (removed)");
}
TEST(Secrets, NamesOfOptionsStay) {
  const std::string message = "unrecognized request argument: stream_options.include_usage";
  EXPECT_EQ(without_secrets(message, {"sk-abcdefgh"}, R"({"prompt":"x","stream_options":{"include_usage":true}})"), message);
}
TEST(Secrets, ShortValuesStay) { EXPECT_EQ(without_secrets("1 of 10 failed", {"1"}, "{}"), "1 of 10 failed"); }
TEST(Secrets, NonJsonBody) { EXPECT_EQ(without_secrets("a message of some length", {}, "hello"), "a message of some length"); }
TEST(Secrets, OfABearer) { EXPECT_EQ(secret_of("Bearer sk-abc"), "sk-abc"); }
TEST(Secrets, OfHeaders) {
  const std::vector<std::pair<std::string, std::string>> headers = {{"Authorization", "Bearer sk-abc"}, {"X-Key", "k"}};
  EXPECT_EQ(secrets_of(headers), (std::vector<std::string_view>{"sk-abc", "k"}));
}
TEST(Secrets, OfAPlainValue) { EXPECT_EQ(secret_of("abc"), "abc"); }

}  // namespace
}  // namespace aaco::serving
