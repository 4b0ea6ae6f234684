#pragma once

#include <cstddef>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "core/check.h"
#include "trace/sink.h"

namespace aaco::collectors {

// Telemetry rows in fixed-size chunks: adding never moves existing rows. One thread adds; another may concurrently take the
// full chunks.
template <class Row>
class RowChunks {
 public:
  using Chunk = std::vector<Row>;
  static constexpr std::size_t kChunkRows = 1024;

  RowChunks() { current_.reserve(kChunkRows); }
  void add(const Row& row) {
    if (current_.size() == kChunkRows) seal();
    current_.push_back(row);
  }
  // Called by the adding thread: the remaining rows become a chunk.
  void seal() {
    Chunk next;
    next.reserve(kChunkRows);
    std::swap(next, current_);
    const std::lock_guard lock(mutex_);
    sealed_.push_back(std::move(next));
  }
  std::vector<Chunk> take_sealed() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sealed_, {});
  }

 private:
  Chunk current_;
  std::mutex mutex_;
  std::vector<Chunk> sealed_;
};

// The sink of the sampling thread: host, GPU and scheduler rows in memory until they are handed over. Any other row is a
// collector's bug.
class RowBuffer final : public trace::EveryRowTo<RowBuffer> {
 public:
  using EveryRowTo::add;
  void add(const trace::SystemEventRow& row) override { system_.add(row); }
  void add(const trace::GpuEventRow& row) override { gpu_.add(row); }
  void add(const trace::SchedEventRow& row) override { sched_.add(row); }
  template <class Row>
  void take(const Row&) {
    AACO_CHECK(false && "a collector emits telemetry rows only");
  }
  trace::NameId name(std::string_view text) override;
  [[nodiscard]] core::Status status() const override { return {}; }

  // Hands the rows of full chunks to `sink`, names translated; safe while another thread adds.
  void drain(trace::Sink& sink);
  // The same including the remaining rows, after the adding thread has ended.
  void drain_all(trace::Sink& sink);

 private:
  // Ids of the rows -> ids of `sink`, for every name there is now.
  void translate_names(trace::Sink& sink);

  RowChunks<trace::SystemEventRow> system_;
  RowChunks<trace::GpuEventRow> gpu_;
  RowChunks<trace::SchedEventRow> sched_;
  std::mutex names_mutex_;
  trace::NameTable names_;
  std::vector<trace::NameId> translated_;
};

}  // namespace aaco::collectors
