#include "importers/stream/trace_events.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "importers/stream/trace_document.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kWindowsInFlight = 3;

// A piece of text and the events found in it.
struct Batch {
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;
  std::size_t size = 0;
  std::vector<TraceEvent> events;

  void reserve(std::size_t bytes) {
    if (bytes + kSkimPadding <= capacity) return;
    std::unique_ptr<char[]> larger(new char[bytes + kSkimPadding]);
    if (size > 0) std::memcpy(larger.get(), text.get(), size);
    text = std::move(larger);
    capacity = bytes + kSkimPadding;
  }
  // Takes over the rest of another batch.
  void begin_with(std::string_view rest, std::size_t window_bytes) {
    size = 0;
    events.clear();
    reserve(std::max(window_bytes, rest.size()));
    if (!rest.empty()) std::memcpy(text.get(), rest.data(), rest.size());
    size = rest.size();
  }
};

// Reads and takes apart; batch after batch.
class Splitter {
 public:
  Splitter(trace::ByteSource& source, const ReadLimits& limits) : source_(source), limits_(limits) {}

  // Fills the batch with the next window; false at the end. The rest behind its last whole value goes to the next one.
  core::Result<bool> fill(Batch& batch) {
    if (ended_) return false;
    batch.begin_with(rest_, limits_.window_bytes);
    for (;;) {
      AACO_ASSIGN(const bool more, read_window(batch));
      const char* at = batch.text.get();
      const char* end = at + batch.size;
      batch.events.clear();
      auto progress = document_.take(at, end, batch.events);
      if (!progress) return core::fail(progress.error().code, source_.name() + ": " + progress.error().message);
      rest_.assign(at, end);
      if (*progress == TraceDocument::Progress::ended || !more) {
        finish(*progress);
        if (document_.end().complete) AACO_TRY(drain(more));
        return true;
      }
      if (at > batch.text.get()) return true;  // something was done with
      if (batch.size >= limits_.value_bytes) {
        document_.end().trouble = "a single value is larger than " + std::to_string(limits_.value_bytes) + " bytes";
        ended_ = true;
        return true;
      }
      batch.reserve(2 * batch.size);
    }
  }
  [[nodiscard]] DocumentEnd& end() { return document_.end(); }

 private:
  // Reads until the batch's buffer is full; false at the end of the source.
  core::Result<bool> read_window(Batch& batch) {
    const std::size_t limit = batch.capacity - kSkimPadding;
    bool more = true;
    while (more && batch.size < limit) {
      AACO_ASSIGN(const std::size_t count, source_.read({batch.text.get() + batch.size, limit - batch.size}));
      batch.size += count;
      document_.end().bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
    std::memset(batch.text.get() + batch.size, 0, kSkimPadding);
    return more;
  }
  // Reads what follows the document: only at its own end does a compressed source know whether it is whole.
  core::Status drain(bool more) {
    std::string text = std::move(rest_);
    for (;;) {
      document_.end().trailing += std::count_if(text.begin(), text.end(), [](unsigned char c) { return c > ' '; });
      if (!more) return {};
      text.resize(std::size_t{64} << 10);
      AACO_ASSIGN(const std::size_t count, source_.read(text));
      text.resize(count);
      document_.end().bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
  }
  void finish(TraceDocument::Progress progress) {
    ended_ = true;
    if (progress == TraceDocument::Progress::wants_more)
      document_.end().trouble = "the text ends " + std::string(document_.place());
  }

  trace::ByteSource& source_;
  ReadLimits limits_;
  TraceDocument document_;
  std::string rest_;
  bool ended_ = false;
};

// Hands batches from the splitting thread to the caller's and empty ones back.
class Exchange {
 public:
  // Null where the reader has given up.
  std::unique_ptr<Batch> empty_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !empty_.empty() || made_ < kWindowsInFlight; });
    if (stopped_) return nullptr;
    if (empty_.empty()) {
      ++made_;
      return std::make_unique<Batch>();
    }
    auto batch = std::move(empty_.back());
    empty_.pop_back();
    return batch;
  }
  void put(std::unique_ptr<Batch> batch) {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(batch));
    changed_.notify_all();
  }
  void finish(core::Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    finished_ = true;
    changed_.notify_all();
  }
  // Null at the end; status() says whether it was one.
  std::unique_ptr<Batch> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return finished_ || !full_.empty(); });
    if (full_.empty()) return nullptr;
    auto batch = std::move(full_.front());
    full_.pop_front();
    return batch;
  }
  void give_back(std::unique_ptr<Batch> batch) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(std::move(batch));
    changed_.notify_all();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] core::Status status() const { return status_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> full_;
  std::vector<std::unique_ptr<Batch>> empty_;
  std::size_t made_ = 0;
  bool finished_ = false;
  bool stopped_ = false;
  core::Status status_;
};

core::Status split(Splitter& splitter, Exchange& exchange) {
  for (;;) {
    auto batch = exchange.empty_batch();
    if (batch == nullptr) return {};
    AACO_ASSIGN(const bool more, splitter.fill(*batch));
    if (!more) return {};
    exchange.put(std::move(batch));
  }
}

}  // namespace

core::Result<DocumentEnd> read_trace_events(trace::ByteSource& source,
                                            const std::function<core::Status(std::span<const TraceEvent>)>& visit,
                                            const ReadLimits& limits) {
  Splitter splitter(source, limits);
  Exchange exchange;
  core::Status visited;
  {
    std::jthread splitting([&] { exchange.finish(split(splitter, exchange)); });
    while (auto batch = exchange.take()) {
      if (!batch->events.empty()) visited = visit(batch->events);
      if (!visited) break;
      exchange.give_back(std::move(batch));
    }
    exchange.stop();
  }
  AACO_TRY(std::move(visited));
  AACO_TRY(exchange.status());
  if (splitter.end().bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  return std::move(splitter.end());
}

}  // namespace aaco::importers
