#include "tracelake/store/chunk_reader.h"

#include <utility>

namespace aaco::tracelake::store {

ChunkReader::~ChunkReader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ChunkReader::read_ahead() {
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

void ChunkReader::work() {
  for (bool more = true; more;) {
    auto chunk = cursor_.next();
    more = chunk && chunk->valid() && chunk->size() > 0;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || ready_.size() < kAhead; });
    if (stopping_) return;
    ready_.push_back(std::move(chunk));
    ended_ = !more;
    if (ended_ || ready_.size() >= kTogether) changed_.notify_all();
  }
}

core::Result<duckdb::DataChunk> ChunkReader::next() {
  if (!thread_.joinable()) return cursor_.next();
  if (taken_.empty()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || ready_.size() >= kTogether; });
    taken_.swap(ready_);
    changed_.notify_all();
  }
  auto chunk = std::move(taken_.front());
  taken_.pop_front();
  return chunk;
}

}  // namespace aaco::tracelake::store
