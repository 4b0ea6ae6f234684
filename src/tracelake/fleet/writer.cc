#include <fmt/format.h>

#include <optional>

#include "core/files.h"
#include "tracelake/duckdb/appender.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/fleet.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kRowsPerPart = 250'000;

std::string table_sql() {
  std::string sql =
      "CREATE OR REPLACE TABLE minutes (minute_unix_ns BIGINT, received_unix_ns BIGINT, node VARCHAR, device INTEGER, "
      "metric_group VARCHAR, "
      "hardware VARCHAR, job VARCHAR, rank INTEGER";
  for (const trace::FleetColumn& column : trace::kFleetColumns) sql += fmt::format(", {} DOUBLE", column.name);
  return sql + ")";
}

template <class T>
void append_whole(duckdb::Appender& appender, const std::optional<T>& value) {
  value ? appender.integer(*value) : appender.null();
}

void append_text(duckdb::Appender& appender, const std::string& text) { text.empty() ? appender.null() : appender.text(text); }

class FleetParts final : public FleetWriter {
 public:
  FleetParts(std::string folder, duckdb::Database database, duckdb::Connection connection)
      : folder_(std::move(folder)), database_(std::move(database)), connection_(std::move(connection)) {}

  core::Status add(const trace::FleetMinute& row) override {
    if (!appender_) {
      AACO_TRY(connection_.run(table_sql()));
      AACO_ASSIGN(auto opened, duckdb::Appender::open(connection_, "minutes"));
      appender_.emplace(std::move(opened));
    }
    appender_->integer(row.minute_unix_ns);
    append_whole(*appender_, row.received_unix_ns);
    append_text(*appender_, row.node);
    append_whole(*appender_, row.device);
    appender_->text(trace::kFleetGroupNames[static_cast<std::size_t>(row.group)]);
    append_text(*appender_, row.hardware);
    append_text(*appender_, row.job);
    append_whole(*appender_, row.rank);
    for (const auto& value : row.values) value ? appender_->real(*value) : appender_->null();
    AACO_TRY(appender_->end_row());
    ++rows_;
    return ++in_part_ < kRowsPerPart ? core::Status() : close();
  }

  // Ends a part; rows may follow.
  core::Status close() override {
    if (!appender_) return {};
    AACO_TRY(appender_->close());
    appender_.reset();
    in_part_ = 0;
    const std::string file = core::join_path(folder_, fmt::format("part-{:05}.parquet", ++parts_));
    AACO_TRY(
        connection_.run(fmt::format("COPY minutes TO {} (FORMAT parquet, COMPRESSION zstd)", duckdb::literal(file + ".tmp"))));
    return core::rename_path(file + ".tmp", file);
  }

  [[nodiscard]] std::int64_t rows() const override { return rows_; }

 private:
  std::string folder_;
  duckdb::Database database_;
  duckdb::Connection connection_;
  std::optional<duckdb::Appender> appender_;
  std::int64_t rows_ = 0, in_part_ = 0, parts_ = 0;
};

}  // namespace

core::Result<std::unique_ptr<FleetWriter>> FleetWriter::create(const std::string& folder) {
  const std::string minutes = core::join_path(folder, "minutes");
  if (core::is_directory(minutes))
    return core::fail(core::ErrorCode::conflict, minutes + " already exists", "choose another folder or remove it");
  AACO_TRY(core::make_directories(minutes));
  AACO_ASSIGN(auto database, duckdb::Database::open({1, std::int64_t{600} << 20, {}}));
  AACO_ASSIGN(auto connection, database.connect());
  return std::unique_ptr<FleetWriter>(std::make_unique<FleetParts>(minutes, std::move(database), std::move(connection)));
}

}  // namespace aaco::tracelake
