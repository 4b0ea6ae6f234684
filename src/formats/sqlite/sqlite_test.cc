#include "formats/sqlite.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "core/files.h"
#include "formats/sqlite_testing.h"

namespace aaco::formats::sqlite {
namespace {

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir());
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  std::string make(const std::string& sql, const std::string& name = "a b?#%.db") {
    const std::string path = core::join_path(folder_->path(), name);
    const auto made = make_database(path, sql);
    EXPECT_TRUE(made.has_value()) << made.error().text();
    return path;
  }
  // Rows of a table until its end or an error.
  static std::int64_t readable_rows(const Database& database, std::string_view table, core::ErrorCode* why = nullptr) {
    auto rows = database.select(table, {"id"});
    if (!rows) return -1;
    for (std::int64_t count = 0;; ++count) {
      const auto more = rows->next();
      if (!more && why != nullptr) *why = more.error().code;
      if (!more || !*more) return count;
    }
  }
  std::optional<core::TemporaryDirectory> folder_;
};

TEST_F(SqliteTest, ReadsRowsColumnByColumn) {
  const auto database =
      Database::open(make("CREATE TABLE t(id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES(1,'one'),(2,NULL)"));
  ASSERT_TRUE(database.has_value()) << database.error().text();
  ASSERT_EQ(database->tables().size(), 1u);
  EXPECT_EQ(database->tables()[0].row_id, "id");
  EXPECT_TRUE(database->has("T", "X"));
  EXPECT_FALSE(database->has("t", "y"));
  EXPECT_EQ(*database->count("t"), 2);
  EXPECT_EQ(*database->count("u"), 0);
  EXPECT_FALSE(database->is_cut());
  auto rows = database->select("t", {"x", "id", "not there"});
  ASSERT_TRUE(rows.has_value());
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->text(0), "one");
  EXPECT_EQ(rows->integer(1), 1);
  EXPECT_EQ(rows->kind(2), Kind::null);
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->text(0), "");
  EXPECT_FALSE(*rows->next());
}

TEST_F(SqliteTest, ValuesOfOtherTypesThanTheColumns) {
  const auto database =
      Database::open(make("CREATE TABLE t(x); INSERT INTO t "
                          "VALUES(7.0),('42'),(1.5),('x'),(x'41'),(NULL),(-1),('0x10'),(1e300),('18446744073709551615'),"
                          "(9e999)"));
  ASSERT_TRUE(database.has_value());
  auto rows = database->select("t", {"x"});
  struct Expected {
    std::optional<std::int64_t> integer;
    std::optional<std::uint64_t> id;
    std::optional<double> real;
  };
  const std::vector<Expected> all = {{7, 7, 7.0},
                                     {42, 42, 42.0},
                                     {{}, {}, 1.5},
                                     {},
                                     {},
                                     {},
                                     {-1, UINT64_MAX, -1.0},
                                     {{}, 16, {}},
                                     {{}, {}, 1e300},
                                     {{}, UINT64_MAX, 18446744073709551615.0},
                                     {{}, {}, {}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_TRUE(*rows->next());
    EXPECT_EQ(rows->integer(0), all[i].integer);
    EXPECT_EQ(rows->id(0), all[i].id);
    EXPECT_EQ(rows->real(0), all[i].real);
  }
}

TEST_F(SqliteTest, RowsByTheirNumber) {
  const auto database =
      Database::open(make("CREATE TABLE t(id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES(5,'five'),(9,'nine');"
                          "CREATE TABLE plain(id INTEGER, x); CREATE TABLE pair(a INTEGER, b INTEGER, PRIMARY KEY(a,b));"
                          "CREATE TABLE named(id TEXT PRIMARY KEY)"));
  ASSERT_TRUE(database.has_value());
  auto rows = database->by_row_id("t", {"x"});
  ASSERT_TRUE(rows.has_value());
  for (const auto& [id, text] : {std::pair(9, "nine"), std::pair(5, "five")}) {
    ASSERT_TRUE(rows->restart(id).has_value());
    ASSERT_TRUE(*rows->next());
    EXPECT_EQ(rows->text(0), text);
  }
  ASSERT_TRUE(rows->restart(6).has_value());
  EXPECT_FALSE(*rows->next());
  for (const char* table : {"plain", "pair", "named", "nothing"})
    EXPECT_FALSE(database->by_row_id(table, {"x"}).has_value()) << table;
}

TEST_F(SqliteTest, OddNamesAreQuoted) {
  const auto database = Database::open(
      make(R"(CREATE TABLE "t""; DROP TABLE u; --"("a""b" INTEGER); INSERT INTO "t""; DROP TABLE u; --" VALUES(3))"));
  ASSERT_TRUE(database.has_value());
  auto rows = database->select("t\"; DROP TABLE u; --", {"a\"b"});
  ASSERT_TRUE(rows.has_value()) << rows.error().text();
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->integer(0), 3);
}

// What a database would have us run is not run.
TEST_F(SqliteTest, IgnoresViewsVirtualTablesAndGeneratedColumns) {
  const auto database =
      Database::open(make("CREATE TABLE t(id INTEGER, g AS (zeroblob(1000000000)));"
                          "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id FROM c;"
                          "CREATE VIRTUAL TABLE f USING fts5(id)"));
  ASSERT_TRUE(database.has_value());
  EXPECT_NE(database->table("t"), nullptr);
  EXPECT_FALSE(database->has("t", "g"));
  EXPECT_EQ(database->table("v"), nullptr);
  EXPECT_EQ(database->table("f"), nullptr);
  EXPECT_FALSE(database->select("v", {"id"}).has_value());
}

TEST_F(SqliteTest, RejectsFilesThatAreNotDatabases) {
  const std::string folder = folder_->path();
  EXPECT_EQ(Database::open(folder + "/nothing.db").error().code, core::ErrorCode::not_found);
  EXPECT_FALSE(Database::open(folder).has_value());
  for (const std::string_view text : {"hello, this is no database at all", "SQLite format 3", "SQLite format 4"}) {
    const std::string path = folder + "/bad.db";
    ASSERT_TRUE(core::write_file_atomic(path, text).has_value());
    EXPECT_FALSE(is_database(text));
    EXPECT_EQ(Database::open(path).error().code, core::ErrorCode::invalid_input) << text;
  }
}

// Cut at every half kilobyte: an error that says so or fewer rows, never a wrong one or a crash.
TEST_F(SqliteTest, TruncatedDatabaseYieldsIntactRows) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t(id INTEGER, x TEXT); BEGIN;";
  for (int i = 0; i < 600; ++i) sql += "INSERT INTO t VALUES(" + std::to_string(i) + ",'some text that takes room');";
  const std::string path = make(sql + "COMMIT", "whole.db");
  const auto whole = core::read_file(path);
  ASSERT_TRUE(whole.has_value());
  EXPECT_TRUE(is_database(*whole));
  const std::string cut = core::join_path(folder_->path(), "cut.db");
  std::int64_t last = 0;
  for (std::size_t size = 0; size < whole->size(); size += 512) {
    ASSERT_TRUE(core::write_file_atomic(cut, whole->substr(0, size)).has_value());
    const auto database = Database::open(cut);
    EXPECT_TRUE(!database || database->is_cut()) << size;
    if (!database || database->table("t") == nullptr) continue;
    core::ErrorCode why = core::ErrorCode::io;
    const std::int64_t count = readable_rows(*database, "t", &why);
    EXPECT_LT(count, 600);
    EXPECT_GE(count, last);
    EXPECT_EQ(why, core::ErrorCode::invalid_input) << size;
    last = count;
  }
  EXPECT_GT(last, 500);
}

TEST_F(SqliteTest, ReadingCreatesNoSideFiles) {
  const std::string path = make("CREATE TABLE t(id); INSERT INTO t VALUES(1)", "x.db");
  const auto before = core::read_file(path);
  {
    const auto database = Database::open(path);
    EXPECT_EQ(readable_rows(*database, "t"), 1);
  }
  EXPECT_EQ(*core::read_file(path), *before);
  EXPECT_EQ(core::list_directory(folder_->path())->size(), 1u);
}

TEST_F(SqliteTest, RowsOutliveTheDatabase) {
  std::optional<Rows> rows;
  {
    const auto database = Database::open(make("CREATE TABLE t(id); INSERT INTO t VALUES(8)"));
    rows.emplace(*database->select("t", {"id"}));
  }
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->integer(0), 8);
}

}  // namespace
}  // namespace aaco::formats::sqlite
