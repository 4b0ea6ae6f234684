#pragma once

#include <cstdint>
#include <memory>

#include "collectors/collector.h"
#include "trace/rows.h"

namespace aaco::collectors {

// Kernel accounting of a process over a block of calls: counters are read at the start and at the end of the block, so that no
// call pays for it. Counters the machine does not provide stay empty. Not thread-safe.
class BlockAccount {
 public:
  // `caller_thread` is the thread that calls the model (0: the main thread).
  static std::unique_ptr<BlockAccount> open(const SysRoot& root, std::int64_t process_id, std::int64_t caller_thread);
  virtual ~BlockAccount() = default;

  virtual void begin() = 0;
  // Fills the kernel counters of `row` with their growth since begin().
  virtual void end(trace::LoopBlockRow& row) = 0;
};

}  // namespace aaco::collectors
