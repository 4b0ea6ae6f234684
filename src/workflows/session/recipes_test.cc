#include "workflows/recipes.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

Services services_with(const std::string& share) {
  Services services;
  services.paths.share = share;
  services.paths.sessions = "/nonexistent";
  return services;
}

TEST(Recipes, ShippedOnesExpandForBothEngines) {
  const Services services = services_with(AACO_SOURCE_DIR);
  const auto recipes = load_recipes(services);
  ASSERT_TRUE(recipes) << recipes.error().text();
  EXPECT_GE(recipes->size(), 40U);
  for (const Recipe& one : *recipes)
    for (const auto dialect : {tracelake::SqlDialect::duckdb, tracelake::SqlDialect::clickhouse}) {
      const auto sql = recipe_sql(one.id, "", dialect, services);
      ASSERT_TRUE(sql) << one.id << ": " << sql.error().text();
      EXPECT_EQ(sql->find('$' + std::string("session")), std::string::npos) << one.id;
      EXPECT_NE(sql->find("ORDER BY"), std::string::npos) << one.id << " has no order";
    }
}
TEST(Recipes, SessionOfAnEngineIsTakenAsItIs) {
  const auto sql =
      recipe_sql("kernels", "20260101T000000Z-abc", tracelake::SqlDialect::clickhouse, services_with(AACO_SOURCE_DIR));
  ASSERT_TRUE(sql);
  EXPECT_NE(sql->find("session_id = '20260101T000000Z-abc'"), std::string::npos);
}
TEST(Recipes, UnknownRecipeAndSessionAreRefused) {
  const Services services = services_with(AACO_SOURCE_DIR);
  EXPECT_FALSE(recipe_sql("nothing", "", tracelake::SqlDialect::duckdb, services));
  EXPECT_FALSE(recipe_sql("kernels", "tag:nobody", tracelake::SqlDialect::duckdb, services));
  EXPECT_FALSE(recipe_sql("kernels", "x' OR 1=1", tracelake::SqlDialect::clickhouse, services));
}
TEST(Recipes, DamagedFilesAreRefused) {
  const auto folder = core::TemporaryDirectory::make("/tmp");
  ASSERT_TRUE(core::make_directories(folder->path() + "/data/queries"));
  for (const char* text : {"recipes: 3\n", "schema_version: 1\n", "recipes:\n  - {id: a, about: b}\n",
                           "recipes:\n  - {id: a, about: b, sql: c}\n  - {id: a, about: b, sql: c}\n",
                           "recipes:\n  - {id: a, about: b, sql: c, more: d}\n"}) {
    ASSERT_TRUE(core::write_file_atomic(folder->path() + "/data/queries/recipes.yaml", text));
    const auto recipes = load_recipes(services_with(folder->path()));
    EXPECT_TRUE(!recipes || recipes->empty()) << text;
  }
}

}  // namespace
}  // namespace aaco::workflows
