#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/tables.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/store/cell.h"
#include "tracelake/store/chunk_source.h"
#include "tracelake/store/name_cells.h"

namespace aaco::tracelake::store {

// Rows from the thread that measures or imports to the thread that writes the file. They become columns here, on the first: the
// writing thread has enough to do with encoding them, and takes the columns over without a copy.
template <class Row>
class RowQueue final : public ChunkSource {
 public:
  explicit RowQueue(const NameStore& names) : names_(names) {}

  // Waits while enough earlier rows are waiting. False if the consumer has ended: the rows are lost, and its result says why.
  bool push(const std::vector<Row>& rows) {
    const std::size_t most = duckdb_vector_size();
    std::deque<duckdb::DataChunk> chunks;
    for (std::size_t at = 0; at < rows.size(); at += most) {
      chunks.push_back(columns(rows.data() + at, std::min(most, rows.size() - at)));
      if (chunks.size() < kTogether && at + most < rows.size()) continue;
      if (!hand_over(chunks)) return false;
    }
    return true;
  }
  // No more rows will come.
  void close() { set(closed_); }
  // The file is not wanted any more: its COPY fails.
  void abandon() { set(abandoned_); }
  // Ready for another file.
  void reopen() { closed_ = abandoned_ = ended_ = false; }

  core::Result<std::size_t> fill(duckdb_data_chunk chunk) override {
    AACO_ASSIGN(const duckdb::DataChunk ready, next());
    if (!ready.valid()) return std::size_t{0};
    for (std::size_t i = 0; i < kColumns; ++i)
      duckdb_vector_reference_vector(duckdb_data_chunk_get_vector(chunk, i), ready.column(i));
    return ready.size();
  }
  void consumer_ended() override { set(ended_); }

 private:
  static constexpr std::size_t kTogether = 4;  // chunks that change hands at once: few waits
  // While the writing thread encodes a row group it takes no rows; those of the next one are ready then.
  static constexpr std::size_t kWaiting = 16;
  using Columns = decltype(trace::TableOf<Row>::columns());
  static constexpr std::size_t kColumns = std::tuple_size_v<Columns>;

  void set(bool& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  bool hand_over(std::deque<duckdb::DataChunk>& chunks) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kWaiting || ended_; });
    if (ended_) return false;
    std::move(chunks.begin(), chunks.end(), std::back_inserter(waiting_));
    chunks.clear();
    changed_.notify_all();
    return true;
  }

  // The next chunk; one that is not valid() at the end.
  core::Result<duckdb::DataChunk> next() {
    if (taken_.empty()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty() || closed_ || abandoned_; });
      if (abandoned_) return core::fail(core::ErrorCode::cancelled, "the session was discarded");
      taken_.swap(waiting_);
      changed_.notify_all();
    }
    if (taken_.empty()) return duckdb::DataChunk();
    duckdb::DataChunk chunk = std::move(taken_.front());
    taken_.pop_front();
    return chunk;
  }

  duckdb::DataChunk columns(const Row* rows, std::size_t count) {
    duckdb::DataChunk chunk(types_);
    std::size_t index = 0;
    std::apply([&](auto... column) { (write(rows, count, column.member, chunk.column(index++)), ...); },
               trace::TableOf<Row>::columns());
    duckdb_data_chunk_set_size(chunk.get(), count);
    return chunk;
  }

  template <class Value>
  void write(const Row* rows, std::size_t count, Value Row::*member, duckdb_vector column) {
    if constexpr (kIsName<Value>) {
      ids_.resize(count);
      for (std::size_t i = 0; i < count; ++i) ids_[i] = (rows[i].*member).value;
      cells_.write(names_, ids_, column);
    } else if constexpr (kIsOptional<Value>) {
      auto* data = static_cast<typename Value::value_type*>(duckdb_vector_get_data(column));
      duckdb_vector_ensure_validity_writable(column);
      std::uint64_t* validity = duckdb_vector_get_validity(column);
      for (std::size_t i = 0; i < count; ++i) {
        const Value& value = rows[i].*member;
        data[i] = value.value_or(typename Value::value_type{});
        if (!value) validity[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      }
    } else {
      auto* data = static_cast<Value*>(duckdb_vector_get_data(column));
      for (std::size_t i = 0; i < count; ++i) data[i] = rows[i].*member;
    }
  }

  static std::vector<duckdb_type> types() {
    return std::apply(
        [](auto... column) { return std::vector<duckdb_type>{Cell<typename decltype(column)::value_type>::kType...}; },
        trace::TableOf<Row>::columns());
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<duckdb::DataChunk> waiting_;
  bool closed_ = false;
  bool abandoned_ = false;
  bool ended_ = false;
  // The consumer's own.
  std::deque<duckdb::DataChunk> taken_;
  // The producer's own.
  const NameStore& names_;
  const std::vector<duckdb_type> types_ = types();
  std::vector<std::uint32_t> ids_;
  NameCells cells_;
};

}  // namespace aaco::tracelake::store
