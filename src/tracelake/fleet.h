#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/fleet.h"
#include "tracelake/sql_dialect.h"

namespace aaco::tracelake {

// Writes telemetry of a fleet to <folder>/minutes/*.parquet, a part after another.
class FleetWriter {
 public:
  // Refuses a folder that already has parts.
  static core::Result<std::unique_ptr<FleetWriter>> create(const std::string& folder);
  virtual ~FleetWriter() = default;
  virtual core::Status add(const trace::FleetMinute& row) = 0;
  virtual core::Status close() = 0;
  [[nodiscard]] virtual std::int64_t rows() const = 0;
};

struct FleetExtent {
  std::int64_t rows = 0, nodes = 0;
  std::int64_t first_unix_ns = 0, last_unix_ns = 0;  // first and last minute
};

using FleetNodeMeans = std::map<std::string, std::vector<std::optional<double>>>;  // node -> one value per bin

// Rows in ClickHouse's format RowBinary with the columns of fleet_row_columns().
struct FleetRows {
  std::string binary;
  std::int64_t count = 0;
};

// Telemetry of a fleet, wherever it is stored. One thread at a time.
class FleetSource {
 public:
  virtual ~FleetSource() = default;
  virtual core::Result<FleetExtent> extent() = 0;
  // Adds the rows of a range of time, each to the entry of `outs` that `place` gives for its node. Fails with unsupported where
  // the source cannot do it.
  virtual core::Status add_rows(std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                                const std::function<std::size_t(std::string_view node)>& place, std::span<FleetRows> outs) = 0;
  // SHA-256 of the files, in the order of their names. Fails with unsupported where the source has none.
  virtual core::Result<std::string> content_hash() = 0;
  // Names of the nodes with rows at that time or later, sorted.
  virtual core::Result<std::vector<std::string>> nodes(std::int64_t since_unix_ns) = 0;
  // Servers whose rows are missing from the answers.
  [[nodiscard]] virtual std::vector<std::string> missing() const { return {}; }
  // Means of one group over bins of `bin_ns` that start at `first_unix_ns`; duplicate rows count once. Reads one day at a time.
  // `node`: only of this one; empty: of all.
  virtual core::Result<trace::FleetCells> cells(trace::FleetGroup group, std::int64_t first_unix_ns, std::int32_t bins,
                                                std::int64_t bin_ns, const std::string& node = "") = 0;
  // Means of the column (an index into trace::kFleetColumns) over the units of each node, in the same bins. Empty: not measured.
  virtual core::Result<FleetNodeMeans> node_means(std::size_t column, std::int64_t first_unix_ns, std::int32_t bins,
                                                  std::int64_t bin_ns) = 0;
};

// A file or folder of Parquet or CSV files (docs/formats/fleet.md). Columns that are absent count as not measured.
core::Result<std::unique_ptr<FleetSource>> open_fleet_files(const std::string& path);

// One range of time of FleetSource::cells.
struct FleetCellsRange {
  trace::FleetGroup group = trace::FleetGroup::gpu;
  std::int64_t origin_unix_ns = 0;  // where bin 0 begins
  std::int64_t bin_ns = 0;
  std::int64_t from_unix_ns = 0, to_unix_ns = 0;
  std::string of_nodes;  // a condition on `node`; empty: all
};
// The query of FleetSource::cells for one range, in the dialect of an engine. Its columns: node, unit, model, work, place, bin,
// minutes, copies, late, delay, and the means of the group's columns as m0, m1, ...
std::string fleet_cells_sql(SqlDialect dialect, std::string_view table, const FleetCellsRange& range);

}  // namespace aaco::tracelake
