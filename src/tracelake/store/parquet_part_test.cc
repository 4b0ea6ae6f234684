#include "tracelake/store/parquet_part.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "core/files.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/store/parquet_footer.h"

namespace aaco::tracelake::store {
namespace {

class ParquetPartTest : public ::testing::Test {
 protected:
  // `rows` rows in groups of 2,048, each start a microsecond after the one before.
  std::string file(std::int64_t rows, const std::string& start = "i * 1000") {
    const std::string path = core::join_path(folder.path(), "rows.parquet");
    EXPECT_TRUE(connection.run("COPY (SELECT " + start + " AS start_ns, i AS number, 'kernel ' || (i % 7) AS name FROM range(" +
                               std::to_string(rows) + ") t(i)) TO " + duckdb::literal(path) +
                               " (FORMAT parquet, ROW_GROUP_SIZE 2048, PARQUET_VERSION V2, COMPRESSION zstd)"));
    return path;
  }
  std::int64_t number(const std::string& path, const std::string& what) {
    auto cursor = connection.query("SELECT CAST(" + what + " AS BIGINT) FROM read_parquet(" + duckdb::literal(path) +
                                   ") WHERE start_ns BETWEEN 500000000 AND 500099000");
    EXPECT_TRUE(cursor) << cursor.error().text();
    if (!cursor) return -1;
    const auto chunk = cursor->next();
    return chunk && chunk->valid() && chunk->size() == 1
               ? *static_cast<const std::int64_t*>(duckdb_vector_get_data(chunk->column(0)))
               : -1;
  }
  static std::optional<ParquetPart> part(const std::string& path, std::int64_t low, std::int64_t high) {
    const std::vector<Between> between = {{"start_ns", low, high}};
    return parquet_part(path, between);
  }

  static constexpr std::int64_t kRows = 1'000'000;
  core::TemporaryDirectory folder = *core::TemporaryDirectory::make(std::filesystem::temp_directory_path().string(), "aaco-part");
  duckdb::Database database = *duckdb::Database::open({});
  duckdb::Connection connection = *database.connect();
};

TEST_F(ParquetPartTest, HasTheRowsOfTheRange) {
  const std::string whole = file(kRows);
  const auto found = part(whole, 500'000'000, 500'099'000);
  ASSERT_TRUE(found);
  for (const char* what : {"count(*)", "sum(number)", "sum(length(name))", "min(start_ns)", "max(hash(name) % 1000)"})
    EXPECT_EQ(number(found->path(), what), number(whole, what)) << what;
  EXPECT_EQ(number(found->path(), "count(*)"), 100);
}
TEST_F(ParquetPartTest, NoRowsInTheRangeIsAnEmptyTable) {
  const auto found = part(file(kRows), -1'000, -1);
  ASSERT_TRUE(found);
  EXPECT_EQ(number(found->path(), "count(*)"), 0);
}
TEST_F(ParquetPartTest, MostOfATableIsReadAsItIs) { EXPECT_FALSE(part(file(kRows), 0, 900'000'000)); }
TEST_F(ParquetPartTest, ASmallTableIsReadAsItIs) { EXPECT_FALSE(part(file(10'000), 0, 1'000)); }
TEST_F(ParquetPartTest, AnotherTypeExcludesNothing) { EXPECT_FALSE(part(file(kRows, "CAST(i AS DOUBLE)"), 0, 1'000)); }
TEST_F(ParquetPartTest, AnUnknownColumnExcludesNothing) {
  const std::vector<Between> between = {{"other", 0, 1}};
  EXPECT_FALSE(parquet_part(file(kRows), between));
}
TEST_F(ParquetPartTest, NoConditionExcludesNothing) { EXPECT_FALSE(parquet_part(file(kRows), {})); }
TEST_F(ParquetPartTest, ColumnsOfAFile) {
  EXPECT_EQ(parquet_columns(file(10)), (std::vector<std::string>{"start_ns", "number", "name"}));
  EXPECT_EQ(parquet_columns(file(kRows)).size(), 3U);
  EXPECT_TRUE(parquet_columns(file(10, "[i]")).empty()) << "nested";
  EXPECT_TRUE(parquet_columns("/nowhere/rows.parquet").empty());
}
TEST_F(ParquetPartTest, AMissingOrOtherFileHasNone) {
  EXPECT_FALSE(part("/nowhere/rows.parquet", 0, 1));
  const std::string path = core::join_path(folder.path(), "text");
  ASSERT_TRUE(core::write_file_atomic(path, std::string(100'000, 'x')));
  EXPECT_FALSE(part(path, 0, 1));
}

// A footer that names more than the file has, or less than it says.
TEST_F(ParquetPartTest, DamagedFootersAreRefused) {
  const std::string path = file(100'000);
  const auto bytes = core::read_file(path);
  ASSERT_TRUE(bytes);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes->data() + bytes->size() - 8, sizeof length);
  const std::string_view footer = std::string_view(*bytes).substr(bytes->size() - 8 - length, length);
  const std::vector<Between> between = {{"start_ns", 0, 1'000}};
  const auto whole = part_of_footer(footer, between);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->groups.size(), 1U);
  EXPECT_EQ(whole->group_count, 49U);
  for (std::size_t size = 0; size < footer.size(); ++size) EXPECT_FALSE(part_of_footer(footer.substr(0, size), between)) << size;
  EXPECT_FALSE(part_of_footer(std::string(1'000, '\xFF'), between));
}

}  // namespace
}  // namespace aaco::tracelake::store
