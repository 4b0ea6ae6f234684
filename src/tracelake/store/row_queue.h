#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "trace/tables.h"
#include "tracelake/store/cell.h"
#include "tracelake/store/chunk_source.h"
#include "tracelake/store/name_cells.h"
#include "tracelake/store/time_column.h"

namespace aaco::tracelake::store {

// Batches of rows from the thread that measures or imports to the thread that writes the file; turns them into columns there.
template <class Row>
class RowQueue final : public ChunkSource {
 public:
  explicit RowQueue(const NameStore& names) : names_(names) {}

  // Waits while another batch is waiting. False if the consumer has ended: the batch is lost, and its result says why.
  bool push(std::vector<Row> batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.empty() || ended_; });
    if (ended_) return false;
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  // No more batches will come.
  void close() { set(closed_); }
  // The file is not wanted any more: its COPY fails.
  void abandon() { set(abandoned_); }
  // An empty vector with the memory of an earlier batch.
  std::vector<Row> spare() {
    const std::lock_guard lock(mutex_);
    return std::exchange(spare_, {});
  }
  // Ready for another file.
  void reopen() { closed_ = abandoned_ = ended_ = false; }

  core::Result<std::size_t> fill(duckdb_data_chunk chunk) override {
    if (at_ == batch_.size()) {
      AACO_ASSIGN(const bool more, next_batch());
      if (!more) return std::size_t{0};
    }
    const std::size_t count = std::min<std::size_t>(duckdb_vector_size(), batch_.size() - at_);
    const Row* rows = batch_.data() + at_;
    std::size_t index = 0;
    std::apply([&](auto... column) { (write(rows, count, column.member, duckdb_data_chunk_get_vector(chunk, index++)), ...); },
               trace::TableOf<Row>::columns());
    at_ += count;
    return count;
  }
  void consumer_ended() override { set(ended_); }

 private:
  void set(bool& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  core::Result<bool> next_batch() {
    std::unique_lock lock(mutex_);
    batch_.clear();
    at_ = 0;
    if (spare_.capacity() == 0) spare_ = std::move(batch_);
    changed_.wait(lock, [this] { return !batches_.empty() || closed_ || abandoned_; });
    if (abandoned_) return core::fail(core::ErrorCode::cancelled, "the session was abandoned");
    if (batches_.empty()) return false;
    batch_ = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return true;
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

  const NameStore& names_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Row>> batches_;
  std::vector<Row> spare_;
  bool closed_ = false;
  bool abandoned_ = false;
  bool ended_ = false;
  // The consumer's own.
  std::vector<Row> batch_;
  std::size_t at_ = 0;
  std::vector<std::uint32_t> ids_;
  NameCells cells_;
};

}  // namespace aaco::tracelake::store
