#include <algorithm>
#include <optional>

#include "core/files.h"
#include "core/strings.h"
#include "trace/tables.h"
#include "tracelake/lake.h"
#include "tracelake/store/chunk_reader.h"
#include "tracelake/store/parquet_part.h"
#include "tracelake/store/table_reader.h"
#include "tracelake/store/time_column.h"

namespace aaco::tracelake {
namespace {

constexpr std::size_t kBatchRows = std::size_t{1} << 14;  // of 200 bytes: several tables are open at once

// Of a file that cannot be read: without the statement it was read by, which is our own and tells a person nothing.
core::Error of_file(core::Error error, const std::string& file) {
  error.message.resize(std::min(error.message.size(), error.message.find('\n')));
  if (error.remedy.empty()) error.remedy = "run `aaco verify SESSION` to list the damaged files";
  return std::move(error).with("reading " + file);
}

std::string where_clause(const Condition& condition) {
  std::vector<std::string> all;
  for (const Between& one : condition.between) {
    const std::string column = duckdb::identifier(one.column);
    if (one.low > INT64_MIN) all.push_back(column + " >= " + std::to_string(one.low));
    if (one.high < INT64_MAX) all.push_back(column + " <= " + std::to_string(one.high));
  }
  if (!condition.sql.empty()) all.push_back("(" + condition.sql + ")");
  return all.empty() ? std::string() : " WHERE " + core::join(all, " AND ");
}

template <class Row>
class FileStream final : public RowStream<Row> {
 public:
  FileStream(std::string file, trace::NameTable& names) : file_(std::move(file)), names_(names) {}

  core::Status open(const std::vector<Instead>& instead, const Condition& where) {
    part_ = store::parquet_part(file_, where.between);
    AACO_ASSIGN(auto connection, duckdb::connect_reader());
    AACO_ASSIGN(std::string sql,
                store::select_columns(connection, part_ ? part_->path() : file_, store::TableReader<Row>::columns(), instead));
    sql += where_clause(where);
    AACO_ASSIGN(auto cursor, connection.query(sql));
    chunks_.emplace(std::move(connection), std::move(cursor));
    return {};
  }
  core::Result<std::span<const Row>> next() override {
    batch_.clear();
    while (!ended_ && batch_.size() < kBatchRows) {
      auto chunk = chunks_->next();
      if (!chunk) return tl::unexpected<core::Error>(of_file(std::move(chunk).error(), file_));
      ended_ = !chunk->valid() || chunk->size() == 0;
      if (ended_) break;
      store::TableReader<Row>::append(*chunk, names_, batch_);
    }
    if (!ended_) chunks_->read_ahead();
    return std::span<const Row>(batch_);
  }

 private:
  std::string file_;
  trace::NameTable& names_;
  std::optional<store::ParquetPart> part_;
  std::optional<store::ChunkReader> chunks_;  // of the part, where there is one: it goes first
  std::vector<Row> batch_;
  bool ended_ = false;
};

template <class Row>
class NoRows final : public RowStream<Row> {
 public:
  core::Result<std::span<const Row>> next() override { return std::span<const Row>(); }
};

template <class Row>
core::Result<std::unique_ptr<RowStream<Row>>> open_where(const std::string& session_path, trace::NameTable& names,
                                                         const std::vector<Instead>& instead, const Condition& where) {
  const std::string file = core::join_path(session_path, trace::TableOf<Row>::kPath);
  if (!core::is_directory(session_path)) return core::fail(core::ErrorCode::not_found, session_path + ": no such session");
  if (!core::exists(file)) return std::make_unique<NoRows<Row>>();
  auto stream = std::make_unique<FileStream<Row>>(file, names);
  core::Status opened = stream->open(instead, where);
  if (!opened) return tl::unexpected<core::Error>(of_file(std::move(opened).error(), file));
  return stream;
}

template <class Row>
core::Status visit_all(RowStream<Row>& stream, const std::function<core::Status(std::span<const Row>)>& visit) {
  for (;;) {
    AACO_ASSIGN(const std::span<const Row> rows, stream.next());
    if (rows.empty()) return {};
    AACO_TRY(visit(rows));
  }
}

}  // namespace

template <class Row>
core::Result<std::unique_ptr<RowStream<Row>>> open_rows(const std::string& session_path, trace::NameTable& names,
                                                        const std::vector<Instead>& instead) {
  return open_where<Row>(session_path, names, instead, {});
}

template <class Row>
core::Status scan_table(const std::string& session_path, trace::NameTable& names,
                        const std::function<core::Status(std::span<const Row>)>& visit) {
  AACO_ASSIGN(const auto stream, open_rows<Row>(session_path, names));
  return visit_all(*stream, visit);
}

template <class Row>
core::Status scan_where(const std::string& session_path, trace::NameTable& names, const Condition& where,
                        const std::vector<Instead>& instead, const std::function<core::Status(std::span<const Row>)>& visit) {
  AACO_ASSIGN(const auto stream, open_where<Row>(session_path, names, instead, where));
  return visit_all(*stream, visit);
}

template <class Row>
core::Result<std::vector<Row>> read_table(const std::string& session_path, trace::NameTable& names) {
  std::vector<Row> rows;
  AACO_TRY(scan_table<Row>(session_path, names, [&](std::span<const Row> batch) -> core::Status {
    rows.insert(rows.end(), batch.begin(), batch.end());
    return {};
  }));
  if constexpr (store::kHasTime<Row>) {
    const auto earlier = [](const Row& a, const Row& b) { return store::time_of(a) < store::time_of(b); };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
  }
  return rows;
}

#define AACO_INSTANTIATE(Row)                                                                                                \
  template core::Result<std::unique_ptr<RowStream<trace::Row>>> open_rows<trace::Row>(const std::string&, trace::NameTable&, \
                                                                                      const std::vector<Instead>&);          \
  template core::Result<std::vector<trace::Row>> read_table<trace::Row>(const std::string&, trace::NameTable&);              \
  template core::Status scan_table<trace::Row>(const std::string&, trace::NameTable&,                                        \
                                               const std::function<core::Status(std::span<const trace::Row>)>&);             \
  template core::Status scan_where<trace::Row>(const std::string&, trace::NameTable&, const Condition&,                      \
                                               const std::vector<Instead>&,                                                  \
                                               const std::function<core::Status(std::span<const trace::Row>)>&);
AACO_TRACE_ROWS(AACO_INSTANTIATE)
#undef AACO_INSTANTIATE

}  // namespace aaco::tracelake
