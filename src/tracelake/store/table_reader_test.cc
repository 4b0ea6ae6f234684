#include "tracelake/store/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace aaco::tracelake::store {
namespace {

using ::testing::HasSubstr;

// A table file as an older or newer program would have left it.
class ReadColumns : public ::testing::Test {
 protected:
  // `version` as it stands in the file; empty: a file that does not say.
  std::string file(const std::string& select, const std::string& version) {
    const std::string path = core::join_path(folder.path(), "rows.parquet");
    const std::string said = version.empty() ? "" : ", KV_METADATA {aaco_schema_version: '" + version + "'}";
    EXPECT_TRUE(connection.run("COPY (" + select + ") TO " + duckdb::literal(path) + " (FORMAT parquet" + said + ")"));
    return path;
  }
  core::Result<std::string> select(const std::string& path) {
    return select_columns(connection, path,
                          {{"old", "BIGINT", true, 1}, {"optional", "BIGINT", false, 1}, {"later", "BIGINT", true, 2}});
  }
  core::TemporaryDirectory folder =
      *core::TemporaryDirectory::make(std::filesystem::temp_directory_path().string(), "aaco-reader");
  duckdb::Database database = *duckdb::Database::open({});
  duckdb::Connection connection = *database.connect();
};

TEST_F(ReadColumns, AnOlderFileLacksLaterColumns) {
  const auto statement = select(file("SELECT 7 AS old", "1"));
  ASSERT_TRUE(statement) << statement.error().text();
  EXPECT_THAT(*statement, HasSubstr("CAST(NULL AS BIGINT) AS \"later\""));
  EXPECT_TRUE(connection.run(*statement));
}
TEST_F(ReadColumns, FileWithoutVersionIsVersionOne) { EXPECT_TRUE(select(file("SELECT 7 AS old", ""))); }
TEST_F(ReadColumns, RequiresColumnsOfItsVersion) {
  const auto statement = select(file("SELECT 7 AS optional", "1"));
  ASSERT_FALSE(statement);
  EXPECT_THAT(statement.error().message, HasSubstr("has no column old"));
}
TEST_F(ReadColumns, AFileOfALaterVersionIsRefused) {
  const auto statement = select(file("SELECT 7 AS old", "99"));
  ASSERT_FALSE(statement);
  EXPECT_EQ(statement.error().code, core::ErrorCode::unsupported);
}
TEST_F(ReadColumns, RefusesNonNumericVersion) { EXPECT_FALSE(select(file("SELECT 7 AS old", "two"))); }

}  // namespace
}  // namespace aaco::tracelake::store
