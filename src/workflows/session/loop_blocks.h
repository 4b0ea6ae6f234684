#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectors/block_account.h"
#include "collectors/freeze_watch.h"
#include "runner/loop.h"
#include "trace/metric.h"
#include "trace/sink.h"
#include "workflows/session/stop_count.h"

namespace aaco::workflows {

// Keeps what the kernel says of each block of a measuring loop. Belongs to the thread that calls the model.
class LoopBlocks final : public runner::BlockObserver {
 public:
  LoopBlocks();
  void begin_block() override {
    stops_before_ = stops_.count();
    (void)freezer_.used();
    account_->begin();
  }
  void end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns, std::int64_t calls) override;
  void store(trace::Sink& sink);
  // The same rows, with names of `names`.
  [[nodiscard]] std::vector<trace::LoopBlockRow> rows(trace::NameTable& names) const;

  // process.freezes_count and process.frozen_ns of the blocks without telemetry; empty where a freeze would go unnoticed.
  [[nodiscard]] trace::Metrics freezes() const;

 private:
  struct Block {
    trace::LoopBlockRow row;
    bool instrumented = false;
  };
  StopCount stops_;
  std::int64_t stops_before_ = 0;
  collectors::FreezeWatch freezer_;
  std::int64_t freezes_ = 0;               // blocks in which the freezer was used
  std::optional<std::int64_t> frozen_ns_;  // in them
  std::optional<std::int64_t> frozen_before_ns_;
  std::unique_ptr<collectors::BlockAccount> account_;
  std::vector<Block> blocks_;
};

}  // namespace aaco::workflows
