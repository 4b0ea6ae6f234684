#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/result.h"
#include "trace/tables.h"
#include "tracelake/store/cell.h"
#include "tracelake/store/stage.h"
#include "tracelake/store/time_column.h"

namespace aaco::tracelake::store {

// Fills one chunk after another with rows and hands each full one to the stage.
template <class Row>
class TableWriter {
 public:
  using Table = trace::TableOf<Row>;
  explicit TableWriter(StageDatabase& database) : stage_(database, Table::kName, Table::kTime, stage_columns()) {}

  core::Status add(const Row& row) {
    if (fill_ == 0) begin_chunk();
    set_cells(row, std::make_index_sequence<kColumnCount<Row>>());
    if constexpr (kHasTime<Row>) {
      const std::int64_t time = time_of(row);
      sorted_ = sorted_ && time >= last_time_;
      last_time_ = time;
    }
    ++rows_;
    return ++fill_ == capacity_ ? end_chunk() : core::Status();
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }

  // All rows so far into their file below `bundle`; nothing where there are none, or none since the last time.
  core::Status write(const std::string& bundle) {
    if (rows_ == written_) return {};
    if (fill_ > 0) AACO_TRY(end_chunk());
    AACO_TRY(stage_.write_parquet(bundle + "/" + std::string(Table::kPath), sorted_));
    written_ = rows_;
    return {};
  }

 private:
  static std::vector<StageColumn> stage_columns() {
    return std::apply(
        [](auto... column) {
          return std::vector<StageColumn>{{column.name, Cell<typename decltype(column)::value_type>::kType,
                                           kIsName<typename decltype(column)::value_type>}...};
        },
        Table::columns());
  }

  void begin_chunk() {
    if (!chunk_.valid()) {
      std::vector<duckdb_type> types;
      for (const StageColumn& column : stage_columns()) types.push_back(column.type);
      chunk_ = duckdb::DataChunk(types);
      capacity_ = duckdb_vector_size();
    }
    duckdb_data_chunk_reset(chunk_.get());
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = duckdb_vector_get_data(chunk_.column(i));
      validity_[i] = nullptr;
    }
  }

  core::Status end_chunk() {
    duckdb_data_chunk_set_size(chunk_.get(), fill_);
    fill_ = 0;
    return stage_.append(chunk_);
  }

  template <std::size_t... kIndex>
  void set_cells(const Row& row, std::index_sequence<kIndex...>) {
    constexpr auto kColumns = Table::columns();
    (set_cell(kIndex, row.*std::get<kIndex>(kColumns).member), ...);
  }

  template <class Value>
  void set_cell(std::size_t column, const Value& value) {
    if constexpr (kIsOptional<Value>) {
      if (value)
        set_cell(column, *value);
      else
        set_null(column);
    } else if constexpr (kIsName<Value>) {
      static_cast<std::uint32_t*>(data_[column])[fill_] = value.value;
    } else {
      static_cast<Value*>(data_[column])[fill_] = value;
    }
  }

  void set_null(std::size_t column) {
    if (validity_[column] == nullptr) {
      duckdb_vector_ensure_validity_writable(chunk_.column(column));
      validity_[column] = duckdb_vector_get_validity(chunk_.column(column));
    }
    validity_[column][fill_ / 64] &= ~(std::uint64_t{1} << (fill_ % 64));
  }

  StageTable stage_;
  duckdb::DataChunk chunk_;
  std::array<void*, kColumnCount<Row>> data_{};
  std::array<std::uint64_t*, kColumnCount<Row>> validity_{};
  std::size_t fill_ = 0;
  std::size_t capacity_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t written_ = 0;
  std::int64_t last_time_ = std::numeric_limits<std::int64_t>::min();
  bool sorted_ = true;
};

}  // namespace aaco::tracelake::store
