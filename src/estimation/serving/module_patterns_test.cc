#include "estimation/serving/module_patterns.h"

#include <gtest/gtest.h>

namespace aaco::estimation {
namespace {

bool covers(const std::string& entry, const std::string& name = "model.layers.3.mlp.gate_proj") {
  ModulePatterns patterns;
  patterns.add(entry);
  return patterns.covers(name);
}

TEST(ModulePatterns, NamesCoverWholeComponents) {
  EXPECT_TRUE(covers("model.layers.3.mlp.gate_proj"));
  EXPECT_TRUE(covers("model.layers.3"));
  EXPECT_TRUE(covers("mlp"));
  EXPECT_TRUE(covers("gate_proj"));
  EXPECT_TRUE(covers("model.language_model.layers.3.mlp"));
  EXPECT_FALSE(covers("gate"));
  EXPECT_FALSE(covers("model.layers.30"));
  EXPECT_FALSE(covers("model.layers.3.mlp.gate_proj.weight"));
  EXPECT_FALSE(covers(""));
}
TEST(ModulePatterns, Wildcards) {
  EXPECT_TRUE(covers("model.layers.*.mlp"));
  EXPECT_TRUE(covers("*gate_proj*"));
  EXPECT_TRUE(covers("layers.*.mlp.gate_proj"));
  EXPECT_FALSE(covers("model.layers.*.self_attn"));
}
TEST(ModulePatterns, Expressions) {
  EXPECT_TRUE(covers("re:.*mlp\\.(gate|up|down)_proj.*"));
  EXPECT_TRUE(covers("re:model\\.layers\\.\\d+\\.mlp"));
  EXPECT_TRUE(covers("re:.*[f-h]ate_proj$"));
  EXPECT_FALSE(covers("re:mlp")) << "from the start on";
  EXPECT_FALSE(covers("re:.*mlp\\.gate$"));
  EXPECT_FALSE(covers("re:.*self_attn.*"));
}
TEST(ModulePatterns, ExpressionsThatAreNotUnderstoodAreSaid) {
  for (const char* bad : {"re:(?!x).*", "re:(unclosed", "re:[a", "re:\\1", "re:x{3}", "re:*", "re:(a*)*b(a*)*c"}) {
    ModulePatterns patterns;
    patterns.add(bad);
    EXPECT_FALSE(patterns.covers("model.layers.3.mlp.gate_proj")) << bad;
    if (std::string(bad) != "re:(a*)*b(a*)*c") {
      EXPECT_EQ(patterns.ignored().size(), 1U) << bad;
    }
  }
}
TEST(ModulePatterns, WorkIsBounded) {
  EXPECT_NE(expression_matches("(a|a)*(a|a)*(a|a)*b", std::string(60, 'a')), ExpressionMatch::yes);
  EXPECT_NE(expression_matches(std::string(5000, '('), "a"), ExpressionMatch::yes);
  ModulePatterns patterns;
  for (int i = 0; i < 40; ++i) patterns.add("re:x" + std::to_string(i));
  EXPECT_EQ(patterns.ignored().size(), 40 - ModulePatterns::kMaxWildcards);
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(patterns.covers("y"));
  EXPECT_TRUE(patterns.exhausted());
}

}  // namespace
}  // namespace aaco::estimation
