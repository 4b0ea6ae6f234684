#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/result.h"

namespace aaco::importers {

// Hands batches from the thread that fills them to the one that uses them, and empty ones back.
template <class Batch>
class Exchange {
 public:
  // Null where the user has given up.
  std::unique_ptr<Batch> empty_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !empty_.empty() || made_ < kInFlight; });
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
  static constexpr std::size_t kInFlight = 3;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> full_;
  std::vector<std::unique_ptr<Batch>> empty_;
  std::size_t made_ = 0;
  bool finished_ = false;
  bool stopped_ = false;
  core::Status status_;
};

// fill(batch) -> core::Result<bool> fills batch after batch on a thread of its own (false: there was none any more) while
// use(batch) -> core::Status works on those before, in order, on the caller's thread. Three batches go round: fill() gets used
// ones and clears them. Ends with the first error of either; batches before an error of fill() are used.
template <class Batch, class Fill, class Use>
core::Status work_ahead(Fill&& fill, Use&& use) {
  Exchange<Batch> exchange;
  const auto fill_all = [&]() -> core::Status {
    while (auto batch = exchange.empty_batch()) {
      AACO_ASSIGN(const bool more, fill(*batch));
      if (!more) return {};
      exchange.put(std::move(batch));
    }
    return {};
  };
  core::Status used;
  {
    std::jthread filling([&] { exchange.finish(fill_all()); });
    while (auto batch = exchange.take()) {
      used = use(*batch);
      if (!used) break;
      exchange.give_back(std::move(batch));
    }
    exchange.stop();
  }
  AACO_TRY(std::move(used));
  return exchange.status();
}

}  // namespace aaco::importers
