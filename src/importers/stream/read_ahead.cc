#include "importers/stream/read_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace aaco::importers {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kBlocks = 4;

// What the reading thread hands over: a block, the end (an empty block) or the error.
using Block = core::Result<std::string>;

class ReadAhead final : public trace::ByteSource {
 public:
  explicit ReadAhead(std::unique_ptr<trace::ByteSource> source) : source_(std::move(source)), thread_([this] { fill(); }) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  core::Result<std::size_t> read(std::span<char> into) override {
    if (at_ == current_.size() && !ended_) AACO_TRY(next());
    const std::size_t count = current_.copy(into.data(), into.size(), at_);
    at_ += count;
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  [[nodiscard]] std::string path() const override { return source_->path(); }
  [[nodiscard]] std::string damage() const override { return ended_ ? source_->damage() : std::string(); }

 private:
  core::Status next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty(); });
    Block block = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    at_ = 0;
    current_.clear();
    ended_ = !block || block->empty();
    if (!block) return tl::unexpected(std::move(block).error());
    current_ = std::move(*block);
    return {};
  }

  void fill() {
    for (bool more = true; more;) {
      Block block = read_block();
      more = block.has_value() && !block->empty();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || ready_.size() < kBlocks; });
      if (stopping_) return;
      ready_.push_back(std::move(block));
      changed_.notify_all();
    }
  }

  Block read_block() {
    std::string block(kBlockBytes, '\0');
    std::size_t size = 0;
    while (size < block.size()) {
      AACO_ASSIGN(const std::size_t count, source_->read({block.data() + size, block.size() - size}));
      if (count == 0) break;
      size += count;
    }
    block.resize(size);
    return block;
  }

  std::unique_ptr<trace::ByteSource> source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> ready_;
  bool stopping_ = false;
  std::string current_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace

std::unique_ptr<trace::ByteSource> make_read_ahead(std::unique_ptr<trace::ByteSource> source) {
  return std::make_unique<ReadAhead>(std::move(source));
}

}  // namespace aaco::importers
