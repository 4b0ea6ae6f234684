#include <gtest/gtest.h>

#include "core/files.h"
#include "core/strings.h"
#include "hardware/secrets.h"
#include "tests/support/source_dir.h"

namespace aaco::hardware {
namespace {

struct Case {
  std::string text;
  std::vector<std::string> words;  // as a shell splits them
  std::vector<std::string> secrets;
};

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : text) {
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (quote == 0 && c == ' ')
      words.emplace_back();
    else
      words.back().push_back(c);
  }
  return words;
}

Case case_of(std::string_view line) {
  Case one{core::replace_all(std::string(line), "~~", ""), {}, {}};
  for (std::size_t at = one.text.find("[["); at != std::string::npos; at = one.text.find("[[", at + 2))
    one.secrets.push_back(one.text.substr(at + 2, one.text.find("]]", at) - at - 2));
  if (!one.secrets.empty()) one.text = core::replace_all(core::replace_all(one.text, "[[", ""), "]]", "");
  one.words = shell_words(one.text);
  return one;
}

std::vector<Case> corpus(const std::string& name) {
  std::vector<Case> cases;
  const auto text = core::read_file(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/secrets/" + name);
  if (!text) return cases;
  for (const std::string_view line : core::split_lines(*text))
    if (!line.empty() && line[0] != '#') cases.push_back(case_of(line));
  return cases;
}

// What the record keeps of a case.
std::string kept(const Case& one) {
  if (one.text[0] != '$') return core::join(without_secrets(one.words), " ");
  const std::size_t equals = one.text.find('=');
  core::Environment environment;
  environment.set(one.text.substr(1, equals - 1), one.text.substr(equals + 1));
  const auto clean = filter_environment(environment);
  return clean.variables.empty() ? std::string() : "$" + clean.variables[0].first + "=" + clean.variables[0].second;
}

TEST(SecretCorpus, NoSecretSurvives) {
  const auto cases = corpus("secrets.txt");
  EXPECT_GE(cases.size(), 150U);
  for (const Case& one : cases) {
    ASSERT_FALSE(one.secrets.empty()) << one.text;
    for (const std::string& secret : one.secrets) EXPECT_EQ(kept(one).find(secret), std::string::npos) << one.text;
  }
}
TEST(SecretCorpus, NothingHarmlessIsRemoved) {
  const auto cases = corpus("harmless.txt");
  EXPECT_GE(cases.size(), 500U);
  for (const Case& one : cases) EXPECT_EQ(kept(one), one.text[0] == '$' ? one.text : core::join(one.words, " ")) << one.text;
}

}  // namespace
}  // namespace aaco::hardware
