#pragma once

#include <cstdint>
#include <memory>

#include "collectors/collector.h"
#include "trace/rows.h"

namespace aaco::collectors {

// What the kernel accounts to a process between two moments: read at the beginning and the end of a block of calls, so that no
// call pays for it. What this machine does not tell stays empty. One thread at a time.
class BlockAccount {
 public:
  // `caller_thread` is the thread that calls the model (0: the main thread).
  static std::unique_ptr<BlockAccount> open(const SysRoot& root, std::int64_t process_id, std::int64_t caller_thread);
  virtual ~BlockAccount() = default;

  virtual void begin() = 0;
  // Fills the kernel's members of `row` with the growth since begin().
  virtual void end(trace::LoopBlockRow& row) = 0;
};

}  // namespace aaco::collectors
