#include "core/files.h"

#include <duckdb.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/hash.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/engine.h"
#include "tracelake/fleet.h"
#include "tracelake/fleet/cell_collector.h"
#include "tracelake/fleet/means_sql.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kFleetMemoryBytes = std::int64_t{1500} << 20;
constexpr std::int64_t kDayNs = std::int64_t{86'400} * 1'000'000'000;

// A column of a chunk, looked up once for all its rows.
struct ChunkColumn {
  const void* data;
  const std::uint64_t* validity;
  explicit ChunkColumn(duckdb_vector vector)
      : data(duckdb_vector_get_data(vector)), validity(duckdb_vector_get_validity(vector)) {}
  [[nodiscard]] bool null(std::size_t row) const { return validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0; }
  [[nodiscard]] std::string_view text(std::size_t row) const {
    if (null(row)) return {};
    const auto& text = static_cast<const duckdb_string_t*>(data)[row];
    const std::uint32_t size = text.value.inlined.length;
    return {size <= 12 ? text.value.inlined.inlined : text.value.pointer.ptr, size};
  }
};

std::int64_t whole_at(const duckdb::DataChunk& chunk, std::size_t column, std::size_t row) {
  const ChunkColumn values(chunk.column(column));
  return values.null(row) ? 0 : static_cast<const std::int64_t*>(values.data)[row];
}

std::optional<double> real_at(const duckdb::DataChunk& chunk, std::size_t column, std::size_t row) {
  const ChunkColumn values(chunk.column(column));
  return values.null(row) ? std::nullopt : std::optional(static_cast<const double*>(values.data)[row]);
}

std::string_view text_at(const duckdb::DataChunk& chunk, std::size_t column, std::size_t row) {
  return ChunkColumn(chunk.column(column)).text(row);
}

// How a column is written in ClickHouse's RowBinary format.
struct RowKind {
  char type = 'd';   // i: Int64, s: String, d: Float64
  bool key = false;  // not Nullable
};

std::vector<RowKind> row_kinds() {
  std::vector<RowKind> kinds;
  for (const auto& [name, type] : fleet_row_columns())
    kinds.push_back({type == "BIGINT"    ? 'i'
                     : type == "VARCHAR" ? 's'
                                         : 'd',
                     name == "minute_unix_ns" || name == "node" || name == "metric_group"});
  return kinds;
}

template <class T>
void append_raw(std::string& out, const T& value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// RowBinary: numbers as they are, texts after their length (LEB128), a Nullable value after a byte that is 1 for NULL.
void append_binary(std::string& out, const std::vector<ChunkColumn>& columns, std::size_t row,
                   const std::vector<RowKind>& kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const ChunkColumn& column = columns[i];
    const bool null = column.null(row);
    if (!kinds[i].key) {
      out += null ? '\1' : '\0';
      if (null) continue;
    }
    if (kinds[i].type == 'i') {
      append_raw(out, null ? std::int64_t{0} : static_cast<const std::int64_t*>(column.data)[row]);
    } else if (kinds[i].type == 'd') {
      append_raw(out, static_cast<const double*>(column.data)[row]);
    } else {
      const std::string_view text = column.text(row);
      std::size_t size = text.size();
      for (; size >= 128; size >>= 7) out += static_cast<char>((size & 127) | 128);
      out += static_cast<char>(size);
      out += text;
    }
  }
}

// Parquet or CSV files, and the table function of DuckDB that reads them.
struct Scan {
  std::string sql;
  std::vector<std::string> files;  // by name
};

Scan scan_of_files(bool parquet, const std::string& glob, std::vector<std::string> files) {
  std::sort(files.begin(), files.end());
  return {parquet ? fmt::format("read_parquet({}, union_by_name = true)", duckdb::literal(glob))
                  : fmt::format("read_csv({}, union_by_name = true, all_varchar = true)", duckdb::literal(glob)),
          std::move(files)};
}

core::Result<Scan> scan_of(const std::string& path) {
  if (!core::exists(path))
    return core::fail(core::ErrorCode::not_found, path + " does not exist", "pass a file or folder of fleet telemetry");
  if (!core::is_directory(path)) return scan_of_files(path.ends_with(".parquet"), path, {path});
  for (const std::string& folder : {core::join_path(path, "minutes"), path}) {
    if (!core::is_directory(folder)) continue;
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string_view end : {".parquet", ".csv", ".csv.gz"}) {
      std::vector<std::string> files;
      for (const std::string& name : names)
        if (name.ends_with(end)) files.push_back(core::join_path(folder, name));
      if (!files.empty())
        return scan_of_files(end == ".parquet", core::join_path(folder, fmt::format("*{}", end)), std::move(files));
    }
  }
  return core::fail(core::ErrorCode::invalid_input, path + " has no .parquet, .csv or .csv.gz files",
                    "see docs/formats/fleet.md");
}

core::Result<std::set<std::string>> columns_of(duckdb::Connection& connection, const std::string& scan) {
  AACO_ASSIGN(auto cursor, connection.query("SELECT * FROM " + scan + " LIMIT 0"));
  std::set<std::string> out;
  for (std::size_t i = 0; i < cursor.column_count(); ++i) out.insert(cursor.column_name(i));
  return out;
}

// A query of all columns in their types; absent ones, and numbers that are not finite, are NULL.
core::Result<std::string> typed_rows(const std::set<std::string>& there, const std::string& scan, const std::string& path) {
  for (const char* name : {"minute_unix_ns", "node", "metric_group"})
    if (!there.contains(name))
      return core::fail(core::ErrorCode::invalid_input, fmt::format("{} has no column {}", path, name),
                        "see docs/formats/fleet.md");
  std::string list;
  const auto add = [&](std::string_view name, std::string_view type) {
    const bool has = there.contains(std::string(name));
    std::string value = fmt::format("CAST({} AS {})", has ? name : "NULL", type);
    if (has && type == "DOUBLE") value = fmt::format("CASE WHEN isfinite({0}) THEN {0} END", value);
    list += fmt::format("{}{} AS {}", list.empty() ? "" : ", ", value, name);
  };
  for (const auto& [name, type] : fleet_row_columns()) add(name, type);
  return "SELECT " + list + " FROM " + scan;
}

class FleetFiles final : public FleetSource {
 public:
  FleetFiles(duckdb::Database database, duckdb::Connection connection, core::TemporaryDirectory spill)
      : spill_(std::move(spill)), database_(std::move(database)), connection_(std::move(connection)) {}

  core::Status open(const std::string& path) {
    path_ = path;
    AACO_ASSIGN(scan_, scan_of(path));
    AACO_ASSIGN(there_, columns_of(connection_, scan_.sql));
    AACO_ASSIGN(const auto rows, typed_rows(there_, scan_.sql, path));
    return connection_.run("CREATE TEMP VIEW fleet_minutes AS " + rows);
  }

  core::Result<FleetExtent> extent() override {
    FleetExtent out;
    AACO_TRY(
        each_chunk("SELECT CAST(count(*) AS BIGINT), CAST(count(DISTINCT node) AS BIGINT), min(minute_unix_ns), "
                   "max(minute_unix_ns) FROM fleet_minutes",
                   [&](const duckdb::DataChunk& chunk) {
                     out = {whole_at(chunk, 0, 0), whole_at(chunk, 1, 0), whole_at(chunk, 2, 0), whole_at(chunk, 3, 0)};
                   }));
    return out;
  }

  core::Status add_rows(std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                        const std::function<std::size_t(std::string_view node)>& place, std::span<FleetRows> outs) override {
    std::string list;
    std::size_t node_column = 0, count = 0;
    for (const auto& [name, type] : fleet_row_columns()) {
      if (name == "node") node_column = count;
      list += (count++ == 0 ? "" : ", ") + name;
    }
    std::map<std::string, std::size_t, std::less<>> places;
    const auto add_chunk = [&](const duckdb::DataChunk& chunk) {
      std::vector<ChunkColumn> columns;
      for (std::size_t i = 0; i < row_kinds_.size(); ++i) columns.emplace_back(chunk.column(i));
      for (std::size_t row = 0; row < chunk.size(); ++row) {
        const std::string_view node = columns[node_column].text(row);
        auto found = places.find(node);
        if (found == places.end()) found = places.emplace(node, place(node)).first;
        append_binary(outs[found->second].binary, columns, row, row_kinds_);
        ++outs[found->second].count;
      }
    };
    return each_chunk(fmt::format("SELECT {} FROM fleet_minutes WHERE minute_unix_ns >= {} AND minute_unix_ns < {}", list,
                                  from_unix_ns, to_unix_ns),
                      add_chunk);
  }

  core::Result<std::string> content_hash() override {
    core::Sha256 hash;
    for (const std::string& file : scan_.files) {
      AACO_ASSIGN(const std::string one, core::sha256_file(file));
      hash.add(one);
    }
    return hash.finish_hex();
  }

  core::Result<std::vector<std::string>> nodes(std::int64_t since_unix_ns) override {
    std::vector<std::string> out;
    AACO_TRY(each_chunk(fmt::format("SELECT DISTINCT node FROM fleet_minutes WHERE node IS NOT NULL AND minute_unix_ns >= {} "
                                    "ORDER BY node",
                                    since_unix_ns),
                        [&](const duckdb::DataChunk& chunk) {
                          for (std::size_t row = 0; row < chunk.size(); ++row) out.emplace_back(text_at(chunk, 0, row));
                        }));
    return out;
  }

  core::Result<trace::FleetCells> cells(trace::FleetGroup group, std::int64_t first_unix_ns, std::int32_t bins,
                                        std::int64_t bin_ns, const std::string& node) override {
    return cells_of(group, first_unix_ns, bins, bin_ns, node.empty() ? "" : "node = " + duckdb::literal(node));
  }

  core::Result<FleetNodeMeans> node_means(std::size_t column, std::int64_t first_unix_ns, std::int32_t bins,
                                          std::int64_t bin_ns) override {
    const trace::FleetGroup group = trace::kFleetColumns[column].group;
    FleetNodeMeans out;
    std::set<std::string> repeated;
    AACO_ASSIGN(const bool fast, read_means(column, first_unix_ns, bins, bin_ns, out, repeated));
    if (fast && repeated.empty()) return out;
    std::string list;
    for (const std::string& node : repeated) list += (list.empty() ? "" : ", ") + duckdb::literal(node);
    AACO_ASSIGN(const auto exact, cells_of(group, first_unix_ns, bins, bin_ns, fast ? "node IN (" + list + ")" : ""));
    for (auto& [node, series] : fleet::node_means_of(exact, trace::place_in_group(column))) out[node] = std::move(series);
    return out;
  }

 private:
  // `of_nodes` as in FleetCellsRange.
  core::Result<trace::FleetCells> cells_of(trace::FleetGroup group, std::int64_t first_unix_ns, std::int32_t bins,
                                           std::int64_t bin_ns, const std::string& of_nodes) {
    trace::FleetCells out{first_unix_ns, bin_ns, bins, {}, {}, {}};
    fleet::CellCollector collector(out);
    const std::int64_t end = first_unix_ns + bins * bin_ns;
    const std::int64_t stride = std::max(bin_ns, kDayNs / bin_ns * bin_ns);
    FleetCellsRange range{group, first_unix_ns, bin_ns, 0, 0, of_nodes};
    for (range.from_unix_ns = first_unix_ns; range.from_unix_ns < end; range.from_unix_ns += stride) {
      range.to_unix_ns = std::min(end, range.from_unix_ns + stride);
      AACO_TRY(each_chunk(typed(fleet_cells_sql(SqlDialect::duckdb, "fleet_minutes", range), group),
                          [&](const duckdb::DataChunk& chunk) {
                            for (std::size_t row = 0; row < chunk.size(); ++row)
                              out.cells.push_back(cell_at(chunk, row, columns_of_group(group), collector));
                          }));
    }
    return out;
  }

  // Means that count rows as they are, and the nodes with rows that came twice. False: these bins need cells.
  core::Result<bool> read_means(std::size_t column, std::int64_t first_unix_ns, std::int32_t bins, std::int64_t bin_ns,
                                FleetNodeMeans& out, std::set<std::string>& repeated) {
    const std::int64_t end = first_unix_ns + bins * bin_ns;
    const std::int64_t stride = std::max(bin_ns, kDayNs / bin_ns * bin_ns);
    FleetCellsRange range{trace::kFleetColumns[column].group, first_unix_ns, bin_ns, 0, 0, ""};
    for (range.from_unix_ns = first_unix_ns; range.from_unix_ns < end; range.from_unix_ns += stride) {
      range.to_unix_ns = std::min(end, range.from_unix_ns + stride);
      const auto sql = fleet::node_means_sql("fleet_minutes", trace::kFleetColumns[column].name, range);
      if (!sql) return false;
      AACO_TRY(each_chunk(*sql, [&](const duckdb::DataChunk& chunk) {
        for (std::size_t row = 0; row < chunk.size(); ++row) take_mean(chunk, row, bins, out, repeated);
      }));
    }
    return true;
  }

  static void take_mean(const duckdb::DataChunk& chunk, std::size_t row, std::int32_t bins, FleetNodeMeans& out,
                        std::set<std::string>& repeated) {
    const std::string node(text_at(chunk, 0, row));
    if (whole_at(chunk, 3, row) != 0) repeated.insert(node);
    const auto mean = real_at(chunk, 2, row);
    const std::int64_t bin = whole_at(chunk, 1, row);
    if (!mean || bin < 0 || bin >= bins) return;
    auto& series = out[node];
    series.resize(static_cast<std::size_t>(bins));
    series[static_cast<std::size_t>(bin)] = mean;
  }

  // Sums and counts in fixed types.
  static std::string typed(const std::string& sql, trace::FleetGroup group) {
    std::string names = "node, unit, model, work, place, bin, minutes, copies, is_late, delay";
    std::string list =
        "node, CAST(unit AS BIGINT), model, work, CAST(place AS BIGINT), CAST(bin AS BIGINT), CAST(minutes AS BIGINT), "
        "CAST(copies AS BIGINT), CAST(is_late AS BIGINT), CAST(delay AS DOUBLE)";
    int place = 0;
    for (const trace::FleetColumn& column : trace::kFleetColumns)
      if (column.group == group) {
        names += fmt::format(", m{}", place);
        list += fmt::format(", CAST(m{} AS DOUBLE)", place++);
      }
    return fmt::format("SELECT {} FROM ({}) AS cells({})", list, sql, names);
  }

  static std::size_t columns_of_group(trace::FleetGroup group) {
    return 10 + static_cast<std::size_t>(std::count_if(trace::kFleetColumns.begin(), trace::kFleetColumns.end(),
                                                       [&](const trace::FleetColumn& column) { return column.group == group; }));
  }

  static trace::FleetCell cell_at(const duckdb::DataChunk& chunk, std::size_t row, std::size_t columns,
                                  fleet::CellCollector& collector) {
    const auto whole = [&](std::size_t column) { return static_cast<std::int32_t>(whole_at(chunk, column, row)); };
    trace::FleetCell cell;
    cell.unit = collector.unit(text_at(chunk, 0, row), whole(1), text_at(chunk, 2, row));
    cell.job = collector.job(text_at(chunk, 3, row));
    cell.rank = whole(4);
    cell.bin = whole(5);
    cell.minutes = whole(6);
    cell.rows = whole(7);
    cell.late = whole(8);
    cell.delay_ns = real_at(chunk, 9, row);
    for (std::size_t i = 10; i < columns; ++i) cell.values[i - 10] = real_at(chunk, i, row);
    return cell;
  }

  // What a query about the telemetry answers, to the last row.
  core::Status each_chunk(const std::string& sql, const std::function<void(const duckdb::DataChunk&)>& take) {
    auto cursor = connection_.query(sql);
    if (!cursor) return explained(cursor.error());
    while (true) {
      auto chunk = cursor->next();
      if (!chunk) return explained(chunk.error());
      if (!chunk->valid() || chunk->size() == 0) return {};
      take(*chunk);
    }
  }

  // A value that is none of its column's type is named with its row, which DuckDB's message leaves out.
  core::Status explained(core::Error error) {
    if (error.message.find("Conversion Error") == std::string::npos) return tl::unexpected<core::Error>(std::move(error));
    for (const auto& [name, type] : fleet_row_columns()) {
      if (type == "VARCHAR" || !there_.contains(name)) continue;
      auto cursor = connection_.query(fmt::format(
          "SELECT CAST(node AS VARCHAR), CAST(minute_unix_ns AS VARCHAR), CAST({0} AS VARCHAR) FROM {1} WHERE {0} IS NOT "
          "NULL AND TRY_CAST({0} AS {2}) IS NULL LIMIT 1",
          name, scan_.sql, type));
      if (!cursor) break;
      const auto chunk = cursor->next();
      if (!chunk || !chunk->valid() || chunk->size() == 0) continue;
      return core::fail(
          core::ErrorCode::invalid_input,
          fmt::format("{}: {} is '{}' in the row of node '{}' and minute {}, not {}", path_, name, text_at(*chunk, 2, 0),
                      text_at(*chunk, 0, 0), text_at(*chunk, 1, 0), type == "BIGINT" ? "an integer" : "a number"),
          "correct it, or leave it empty where it was not measured");
    }
    return tl::unexpected<core::Error>(std::move(error));
  }

  std::string path_;
  Scan scan_;
  std::set<std::string> there_;  // columns of the files
  core::TemporaryDirectory spill_;
  duckdb::Database database_;
  duckdb::Connection connection_;
  std::vector<RowKind> row_kinds_ = row_kinds();
};

}  // namespace

core::Result<std::unique_ptr<FleetSource>> open_fleet_files(const std::string& path) {
  AACO_ASSIGN(auto spill, core::TemporaryDirectory::make("/tmp", "aaco-fleet"));
  AACO_ASSIGN(auto database, duckdb::Database::open({2, kFleetMemoryBytes, spill.path()}));
  AACO_ASSIGN(auto connection, database.connect());
  auto files = std::make_unique<FleetFiles>(std::move(database), std::move(connection), std::move(spill));
  AACO_TRY(files->open(path));
  return std::unique_ptr<FleetSource>(std::move(files));
}

}  // namespace aaco::tracelake
