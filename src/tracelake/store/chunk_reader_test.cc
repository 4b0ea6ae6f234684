#include "tracelake/store/chunk_reader.h"

#include <gtest/gtest.h>

#include <memory>

namespace aaco::tracelake::store {
namespace {

constexpr std::int64_t kRows = 200'000;  // of many times the chunks that wait

std::unique_ptr<ChunkReader> reader(const std::string& sql) {
  auto connection = duckdb::connect_reader();
  EXPECT_TRUE(connection);
  auto cursor = connection->query(sql);
  EXPECT_TRUE(cursor);
  return std::make_unique<ChunkReader>(std::move(*connection), std::move(*cursor));
}

// Reads to the end; ahead from the chunk `from` on.
void expect_all_rows(int from) {
  const auto chunks = reader("SELECT range FROM range(" + std::to_string(kRows) + ")");
  std::int64_t row = 0;
  for (int i = 0;; ++i) {
    if (i == from) chunks->read_ahead();
    const auto chunk = chunks->next();
    ASSERT_TRUE(chunk);
    if (!chunk->valid() || chunk->size() == 0) break;
    const auto* values = static_cast<const std::int64_t*>(duckdb_vector_get_data(chunk->column(0)));
    for (std::size_t at = 0; at < chunk->size(); ++at, ++row) ASSERT_EQ(values[at], row);
  }
  EXPECT_EQ(row, kRows);
}

TEST(ChunkReader, OneByOne) { expect_all_rows(-1); }
TEST(ChunkReader, AheadFromTheStart) { expect_all_rows(0); }
TEST(ChunkReader, AheadFromTheMiddle) { expect_all_rows(9); }

TEST(ChunkReader, StopsWithPendingChunks) {
  const auto chunks = reader("SELECT range FROM range(100000000)");
  chunks->read_ahead();
  EXPECT_TRUE(chunks->next());
}

TEST(ChunkReader, PropagatesReadAheadErrors) {
  const auto chunks = reader("SELECT CASE WHEN range = 150000 THEN error('so far') ELSE 'x' END FROM range(200000)");
  chunks->read_ahead();
  for (;;) {
    const auto chunk = chunks->next();
    if (chunk) {
      ASSERT_TRUE(chunk->valid() && chunk->size() > 0) << "an end in place of the error";
      continue;
    }
    EXPECT_NE(chunk.error().message.find("so far"), std::string::npos) << chunk.error().message;
    return;
  }
}

}  // namespace
}  // namespace aaco::tracelake::store
