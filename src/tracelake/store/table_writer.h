#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/result.h"
#include "trace/tables.h"
#include "tracelake/store/cell.h"
#include "tracelake/store/parquet_copy.h"
#include "tracelake/store/row_queue.h"
#include "tracelake/store/row_window.h"

namespace aaco::tracelake::store {

struct TableContext {
  StoreDatabase& database;
  const NameStore& names;
  std::string bundle;  // its folder
};

// One table of an open bundle. Few rows wait in memory for the end. Many stream through a window, in which late rows are put in
// order, into a Parquet file that grows on another thread; rows later than the window cost one more pass over the file.
template <class Row>
class TableWriter {
 public:
  using Table = trace::TableOf<Row>;

  TableWriter(const TableContext& context)  // NOLINT: twelve of them stand in one tuple
      : database_(context.database),
        file_(core::join_path(context.bundle, Table::kPath)),
        part_(core::join_path(database_.spill_directory(), std::string(Table::kName) + ".parquet")),
        queue_(context.names),
        copy_(database_, Table::kName, fields()) {}
  ~TableWriter() { queue_.abandon(); }

  core::Status add(const Row& row) {
    ++rows_;
    return window_.add(row) ? advance() : core::Status();
  }

  // All rows so far into the file; nothing where there are none, or none since the last time. More may follow.
  core::Status write() {
    if (rows_ == written_) return {};
    const bool streamed = copy_.running();
    if (!streamed) AACO_TRY(start());
    const auto [older, newer] = window_.rows();
    for (const auto* half : {&older, &newer})
      if (!half->empty()) (void)push(*half);
    queue_.close();
    AACO_TRY(copy_.finish());
    AACO_TRY(place(streamed));
    written_ = rows_;
    return {};
  }

 private:
  static std::vector<FileField> fields() {
    return std::apply(
        [](auto... column) {
          return std::vector<FileField>{{column.name, Cell<typename decltype(column)::value_type>::kType}...};
        },
        Table::columns());
  }

  core::Status start() {
    queue_.reopen();
    sorted_ = true;
    first_time_ = std::numeric_limits<std::int64_t>::max();
    last_time_ = std::numeric_limits<std::int64_t>::min();
    return copy_.start(queue_, part_);
  }

  core::Status advance() {
    spare_ = window_.rotate(std::move(spare_));
    if (spare_.empty()) return {};
    if (!copy_.running()) AACO_TRY(start());
    if (push(spare_)) return {};
    core::Status status = copy_.finish();
    if (status) return core::fail(core::ErrorCode::io, file_ + ": writing stopped early");
    return status;
  }

  bool push(const std::vector<Row>& batch) {
    if constexpr (kHasTime<Row>) {
      sorted_ = sorted_ && last_time_ <= time_of(batch.front());
      first_time_ = std::min(first_time_, time_of(batch.front()));
      last_time_ = std::max(last_time_, time_of(batch.back()));
    }
    return queue_.push(batch);
  }

  // Puts the finished part in the file's place. Rows that were streamed earlier are in the file only, and are kept.
  core::Status place(bool streamed) {
    AACO_TRY(core::make_directories(core::parent_path(file_)));
    const bool after = base_last_time_ <= first_time_;
    if (has_base_ || !sorted_) {
      std::vector<std::string> parts;
      if (has_base_) parts.push_back(file_);
      parts.push_back(part_);
      const std::string whole = part_ + ".whole";
      AACO_TRY(combine_parquet(database_, parts, sorted_ && after ? std::string_view() : Table::kTime, whole));
      AACO_TRY(core::rename_path(whole, part_));
    }
    AACO_TRY(core::rename_path(part_, file_));
    if (streamed || has_base_) {
      has_base_ = true;
      base_last_time_ = std::max(base_last_time_, last_time_);
      window_.clear();
    }
    return {};
  }

  StoreDatabase& database_;
  std::string file_, part_;
  RowWindow<Row> window_;
  std::vector<Row> spare_;  // what left the window last: its memory serves the next rows
  RowQueue<Row> queue_;
  ParquetCopy copy_;
  std::int64_t rows_ = 0;
  std::int64_t written_ = 0;
  bool sorted_ = true;  // what went into the part
  std::int64_t first_time_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_time_ = std::numeric_limits<std::int64_t>::min();
  bool has_base_ = false;  // the file holds rows that are not in memory any more
  std::int64_t base_last_time_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace aaco::tracelake::store
