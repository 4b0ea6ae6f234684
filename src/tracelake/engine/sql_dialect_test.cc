#include "tracelake/sql_dialect.h"

#include <gtest/gtest.h>

namespace aaco::tracelake {
namespace {

std::string duckdb(std::string_view sql) { return expand_sql(SqlDialect::duckdb, sql).value_or("refused"); }
std::string clickhouse(std::string_view sql) { return expand_sql(SqlDialect::clickhouse, sql).value_or("refused"); }

TEST(SqlDialect, DivisionOfIntegers) {
  EXPECT_EQ(duckdb("SELECT $div(a - b, 10) FROM t"), "SELECT ((a - b) // (10)) FROM t");
  EXPECT_EQ(clickhouse("SELECT $div(a - b, 10) FROM t"), "SELECT intDiv(a - b, 10) FROM t");
}
TEST(SqlDialect, MacrosNest) { EXPECT_EQ(clickhouse("$div($div(a, 2), f(b, 3))"), "intDiv(intDiv(a, 2), f(b, 3))"); }
TEST(SqlDialect, Quantiles) {
  EXPECT_EQ(duckdb("$quantile(0.9, x)"), "quantile_cont(x, 0.9)");
  EXPECT_NE(clickhouse("$median(x)").find("arraySort(groupArray(x))"), std::string::npos);
}
TEST(SqlDialect, TextInQuotesStays) {
  EXPECT_EQ(duckdb("SELECT '$div(1, 2)', \"$x\" FROM t"), "SELECT '$div(1, 2)', \"$x\" FROM t");
  EXPECT_EQ(clickhouse("$div(length('a,b)'), 2)"), "intDiv(length('a,b)'), 2)");
}
TEST(SqlDialect, SessionIsAnyOrOne) {
  EXPECT_EQ(duckdb("$session"), "1 = 1");
  EXPECT_EQ(*expand_sql(SqlDialect::clickhouse, "$session", "2026-a'"), "session_id = '2026-a'");
}
TEST(SqlDialect, UnknownMacrosAndWrongArgumentsAreRefused) {
  for (const char* sql : {"$nothing(1)", "$div(1)", "$div(1, 2, 3)", "$div", "$median(x", "$quantile(0.5)"}) {
    EXPECT_FALSE(expand_sql(SqlDialect::duckdb, sql)) << sql;
    EXPECT_FALSE(expand_sql(SqlDialect::clickhouse, sql)) << sql;
  }
}
TEST(SqlDialect, PriceSignAloneStays) { EXPECT_EQ(duckdb("SELECT $1, '$'"), "SELECT $1, '$'"); }

}  // namespace
}  // namespace aaco::tracelake
