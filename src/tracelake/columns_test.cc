#include "tracelake/columns.h"

#include <cstring>
#include <memory>

#include "tracelake/arrow.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using ::testing::HasSubstr;

std::int64_t whole(const Column& column, std::size_t row) {
  std::int64_t value = 0;
  std::memcpy(&value, column.values.data() + row * sizeof value, sizeof value);
  return value;
}

class ColumnsTest : public SessionTest {
 protected:
  static const Column& named(const Columns& table, std::string_view name) {
    for (const Column& column : table.columns)
      if (column.name == name) return column;
    ADD_FAILURE() << name;
    return table.columns.front();
  }
  [[nodiscard]] Columns ask(const std::string& sql) const {
    auto lake = ColumnLake::open(root);
    EXPECT_TRUE(lake);
    auto answer = (*lake)->columns(sql);
    EXPECT_TRUE(answer) << answer.error().text();
    return answer.value_or(Columns{});
  }
};

TEST_F(ColumnsTest, ReadsATable) {
  const auto table = read_columns(make(manifest(), 5000), "inference_iters");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->rows, 5000U);
  const Column& duration = named(*table, "duration_ns");
  EXPECT_EQ(duration.kind, ColumnKind::int64);
  EXPECT_EQ(whole(duration, 4999), 900 + 4999);
  EXPECT_EQ(named(*table, "phase").text(4999), "measure");
  EXPECT_EQ(named(*table, "page_faults").nulls, 5000U);
  EXPECT_FALSE(named(*table, "page_faults").valid(0));
}
TEST_F(ColumnsTest, RowsAreInOrderOfTime) {
  const auto writer = create(manifest());
  for (const int at : {3, 1, 2}) writer->sink().add(iteration(at));
  const auto table = read_columns(close(*writer, manifest()), "inference_iters");
  ASSERT_TRUE(table);
  const Column& start = named(*table, "start_ns");
  EXPECT_EQ((std::vector{whole(start, 0), whole(start, 1), whole(start, 2)}), (std::vector<std::int64_t>{1000, 2000, 3000}));
}
TEST_F(ColumnsTest, ListsTables) { EXPECT_THAT(tables_of(make(manifest())), ::testing::ElementsAre("inference_iters")); }
TEST_F(ColumnsTest, RefusesAnUnknownTable) {
  const auto table = read_columns(make(manifest()), "nonsense");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::not_found);
  EXPECT_THAT(table.error().remedy, HasSubstr("inference_iters"));
}
TEST_F(ColumnsTest, RefusesATableThatTheSessionLacks) {
  EXPECT_EQ(read_columns(make(manifest()), "rocprof_kernels").error().code, ErrorCode::not_found);
}
TEST_F(ColumnsTest, RefusesAMissingSession) {
  EXPECT_EQ(read_columns(root + "/none", "inference_iters").error().code, ErrorCode::not_found);
}
TEST_F(ColumnsTest, RefusesADamagedTable) {
  const std::string session = make(manifest());
  ASSERT_TRUE(core::write_file_atomic(session + "/metrics/inference_iters.parquet", "PAR1 nonsense"));
  EXPECT_FALSE(read_columns(session, "inference_iters"));
}
TEST_F(ColumnsTest, SumsOfIntegersAreIntegers) {
  (void)make(manifest(), 10);
  const Columns answer = ask("SELECT sum(duration_ns) AS total FROM inference_iters");
  EXPECT_EQ(answer.columns[0].kind, ColumnKind::int64);
  EXPECT_EQ(whole(answer.columns[0], 0), 9045);
}
TEST_F(ColumnsTest, NullsOverManyChunks) {
  const Columns answer = ask("SELECT CASE WHEN i >= 4000 AND i % 2 = 0 THEN NULL ELSE i END AS x FROM range(10001) r(i)");
  const Column& x = answer.columns[0];
  EXPECT_EQ(x.nulls, 3001U);
  EXPECT_TRUE(x.valid(3999) && x.valid(4001) && x.valid(9999));
  EXPECT_FALSE(x.valid(4000) || x.valid(10000));
  EXPECT_EQ(whole(x, 4000), 0);
  EXPECT_EQ(whole(x, 9999), 9999);
}
TEST_F(ColumnsTest, RefusesWrites) {
  const auto lake = ColumnLake::open(root);
  ASSERT_TRUE(lake);
  EXPECT_EQ((*lake)->columns("DROP TABLE sessions").error().code, ErrorCode::permission);
  EXPECT_EQ((*lake)->columns("SELECT nonsense").error().code, ErrorCode::invalid_argument);
}

TEST_F(ColumnsTest, ArrowStreamHasOneBatchOfTheSameMemory) {
  auto table = std::make_shared<const Columns>(*read_columns(make(manifest(), 100), "inference_iters"));
  const void* const memory = named(*table, "duration_ns").values.data();
  const auto index = static_cast<std::size_t>(&named(*table, "duration_ns") - table->columns.data());
  ArrowArrayStream stream{};
  export_stream(table, &stream);
  ArrowArray batch{}, end{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(batch.length, 100);
  EXPECT_EQ(batch.children[index]->buffers[1], memory);
  const std::weak_ptr<const Columns> watched = table;
  table.reset();
  ArrowArray moved = *batch.children[index];  // as a consumer takes one column
  batch.children[index]->release = nullptr;
  batch.release(&batch);
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(static_cast<const std::int64_t*>(moved.buffers[1])[99], 999);
  moved.release(&moved);
  EXPECT_TRUE(watched.expired());
}
TEST_F(ColumnsTest, ArrowSchemaOutlivesItsTable) {
  ArrowSchema schema{};
  export_schema(ask("SELECT 1::INTEGER AS a, 'x' AS b"), &schema);
  ASSERT_EQ(schema.n_children, 2);
  EXPECT_STREQ(schema.children[0]->format, "i");
  EXPECT_STREQ(schema.children[1]->format, "U");
  EXPECT_STREQ(schema.children[1]->name, "b");
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
}

}  // namespace
}  // namespace aaco::tracelake
