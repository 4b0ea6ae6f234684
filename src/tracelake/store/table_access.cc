#include <algorithm>

#include "core/files.h"
#include "trace/tables.h"
#include "tracelake/lake.h"
#include "tracelake/store/table_reader.h"
#include "tracelake/store/time_column.h"

namespace aaco::tracelake {
namespace {

constexpr std::size_t kBatchRows = std::size_t{1} << 16;

// Calls visit(chunk) for each chunk of the table's file; nothing where there is no file.
template <class Row, class Visit>
core::Status for_each_chunk(const std::string& session_path, const Visit& visit) {
  const std::string file = core::join_path(session_path, trace::TableOf<Row>::kPath);
  if (!core::is_directory(session_path))
    return core::fail(core::ErrorCode::not_found, session_path + ": there is no such session");
  if (!core::exists(file)) return {};
  const auto scan = [&]() -> core::Status {
    AACO_ASSIGN(auto database, duckdb::Database::open({}));
    AACO_ASSIGN(auto connection, database.connect());
    AACO_ASSIGN(const std::string sql, store::select_columns(connection, file, store::TableReader<Row>::columns()));
    AACO_ASSIGN(auto cursor, connection.query(sql));
    for (;;) {
      AACO_ASSIGN(const duckdb::DataChunk chunk, cursor.next());
      if (!chunk.valid() || chunk.size() == 0) return {};
      AACO_TRY(visit(chunk));
    }
  };
  core::Status status = scan();
  if (!status) return tl::unexpected<core::Error>(std::move(status).error().with("reading " + file));
  return status;
}

}  // namespace

template <class Row>
core::Result<std::vector<Row>> read_table(const std::string& session_path, trace::NameTable& names) {
  std::vector<Row> rows;
  AACO_TRY(for_each_chunk<Row>(session_path, [&](const duckdb::DataChunk& chunk) -> core::Status {
    store::TableReader<Row>::append(chunk, names, rows);
    return {};
  }));
  if constexpr (store::kHasTime<Row>) {
    const auto earlier = [](const Row& a, const Row& b) { return store::time_of(a) < store::time_of(b); };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
  }
  return rows;
}

template <class Row>
core::Status scan_table(const std::string& session_path, trace::NameTable& names,
                        const std::function<core::Status(std::span<const Row>)>& visit) {
  std::vector<Row> batch;
  AACO_TRY(for_each_chunk<Row>(session_path, [&](const duckdb::DataChunk& chunk) -> core::Status {
    store::TableReader<Row>::append(chunk, names, batch);
    if (batch.size() < kBatchRows) return {};
    core::Status status = visit(batch);
    batch.clear();
    return status;
  }));
  return batch.empty() ? core::Status() : visit(batch);
}

#define AACO_INSTANTIATE(Row)                                                                                   \
  template core::Result<std::vector<trace::Row>> read_table<trace::Row>(const std::string&, trace::NameTable&); \
  template core::Status scan_table<trace::Row>(const std::string&, trace::NameTable&,                           \
                                               const std::function<core::Status(std::span<const trace::Row>)>&);
AACO_INSTANTIATE(IterationRow)
AACO_INSTANTIATE(LoopBlockRow)
AACO_INSTANTIATE(NodeExecutionRow)
AACO_INSTANTIATE(KernelRow)
AACO_INSTANTIATE(ApiCallRow)
AACO_INSTANTIATE(CopyRow)
AACO_INSTANTIATE(CollectiveRow)
AACO_INSTANTIATE(KernelCounterRow)
AACO_INSTANTIATE(SystemEventRow)
AACO_INSTANTIATE(GpuEventRow)
AACO_INSTANTIATE(SchedEventRow)
AACO_INSTANTIATE(GraphNodeRow)
AACO_INSTANTIATE(GraphEdgeRow)
AACO_INSTANTIATE(AttributionRow)
AACO_INSTANTIATE(KernelGroupRow)
AACO_INSTANTIATE(GapRow)
#undef AACO_INSTANTIATE

}  // namespace aaco::tracelake
