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
  EXPECT_EQ(without_secrets("invalid: password is hunter2 an", {}, kChat), "invalid: (removed)");
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
TEST(Secrets, EscapedOnceAndTwice) {
  const std::string_view body = R"({"prompt":"say \"caf\u00e9\"\nand nothing else"})";
  for (const char* const message :
       {R"(bad: say \"caf\u00e9\"\nand nothing else)", R"(bad: say \\\"caf\\u00e9\\\"\\nand nothing else)",
        "bad: say \"café\"\nand nothing else", "bad: say%20%22caf%C3%A9%22%0Aand%20nothing%20else",
        "bad: SAY &quot;café&quot; and  nothing else"})
    EXPECT_EQ(without_secrets(message, {}, body), "bad: (removed)") << message;
}
TEST(Secrets, EscapedKey) { EXPECT_EQ(without_secrets(R"(key \"sk-a\/b\\c\")", {R"(sk-a/b\c)"}, "{}"), R"(key \"(removed)\")"); }
TEST(Secrets, UpperCaseKey) { EXPECT_EQ(without_secrets("key SK-ABCDEFGH", {"sk-abcdefgh"}, "{}"), "key (removed)"); }
TEST(Secrets, WholeShortPrompt) { EXPECT_EQ(without_secrets("no: pin 4711", {}, R"({"prompt":"pin 4711"})"), "no: (removed)"); }
TEST(Secrets, RepeatedPrompt) {
  EXPECT_EQ(without_secrets("my password is hunter2 my password is hunter2", {}, kChat), "(removed)");
}
TEST(Secrets, LongMessageIsCut) { EXPECT_EQ(without_secrets(std::string(1 << 20, 'x'), {}, kChat).size(), 2000U); }
TEST(Secrets, EmptyMessage) { EXPECT_EQ(without_secrets("", {"sk-abcdefgh"}, kChat), ""); }
TEST(Secrets, LoneBackslash) { EXPECT_EQ(without_secrets("a \\", {"sk-abcdefgh"}, kChat), "a \\"); }
TEST(Secrets, OfABearer) { EXPECT_EQ(secrets_of_header("Bearer sk-abc"), std::vector<std::string>{"sk-abc"}); }
TEST(Secrets, OfBasic) { EXPECT_EQ(secrets_of_header("Basic dXNlcjpwYXNz"), (std::vector<std::string>{"dXNlcjpwYXNz", "pass"})); }
TEST(Secrets, OfAPlainValue) { EXPECT_EQ(secrets_of_header("abc"), std::vector<std::string>{"abc"}); }
TEST(Secrets, OfAValueOfTwoWords) { EXPECT_EQ(secrets_of_header("alpha beta"), (std::vector<std::string>{"alpha", "beta"})); }
TEST(Secrets, OfNoValue) { EXPECT_EQ(secrets_of_header(""), std::vector<std::string>{}); }
TEST(Secrets, OfATarget) {
  Target target;
  target.proxy_authorization = "Basic dXNlcjpwYXNz";
  target.headers = {{"Authorization", "Bearer sk-abc"}, {"X-Key", "k"}};
  EXPECT_EQ(secrets_of(target), (std::vector<std::string>{"dXNlcjpwYXNz", "pass", "sk-abc", "k"}));
}

TEST(WholeSecrets, AreRemovedEverywhere) {
  EXPECT_EQ(without_whole_secrets("sk-abcdef/x-sk-abcdef", {"sk-abcdef"}), "(removed)/x-(removed)");
}
TEST(WholeSecrets, TheLongestGoesFirst) { EXPECT_EQ(without_whole_secrets("abcdefgh", {"abcd", "abcdefgh"}), "(removed)"); }
TEST(WholeSecrets, PartsOfThemStay) { EXPECT_EQ(without_whole_secrets("llama-7b", {"llama-team"}), "llama-7b"); }
TEST(WholeSecrets, ShortOnesStay) { EXPECT_EQ(without_whole_secrets("a-b", {"a", ""}), "a-b"); }
TEST(WholeSecrets, LongTextStaysWhole) { EXPECT_EQ(without_whole_secrets(std::string(5000, 'x'), {"abcd"}).size(), 5000U); }
TEST(Secrets, KeysOfAQueryAsWrittenAndWithoutEscapes) {
  Target target;
  target.query = "api-version=2024&api-key=ab%2Fcdef";
  EXPECT_THAT(secrets_of(target), testing::ElementsAre("ab%2Fcdef", "ab/cdef"));
}

}  // namespace
}  // namespace aaco::serving
