#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "core/result.h"
#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::store {

// The chunks of a query's answer, one after another; those to come may be decoded by a thread of their own while the caller
// works.
class ChunkReader {
 public:
  // `cursor` is of `connection`.
  ChunkReader(duckdb::Connection connection, duckdb::Cursor cursor)
      : connection_(std::move(connection)), cursor_(std::move(cursor)) {}
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;
  ~ChunkReader();

  // The next chunk; one that is not valid(), or has no rows, at the end. Nobody calls it again after an end or an error.
  core::Result<duckdb::DataChunk> next();
  // From now on kAhead chunks wait for next(). Worth a thread where many are to come.
  void read_ahead();

 private:
  static constexpr std::size_t kAhead = 16;
  static constexpr std::size_t kTogether = 4;  // that change hands at once: few waits
  void work();

  duckdb::Connection connection_;
  duckdb::Cursor cursor_;  // after its connection: it goes first
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<core::Result<duckdb::DataChunk>> ready_;
  bool ended_ = false;
  bool stopping_ = false;
  std::deque<core::Result<duckdb::DataChunk>> taken_;  // the caller's own
  std::thread thread_;
};

}  // namespace aaco::tracelake::store
