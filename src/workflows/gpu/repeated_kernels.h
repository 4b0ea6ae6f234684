#pragma once

#include <algorithm>
#include <vector>

#include "trace/rows.h"

namespace aaco::workflows {

// Finds kernels that stand more than once in a trace: the same in every column, and a stream runs one after the other.
class RepeatedKernels {
 public:
  // Kernels in order of start, of all devices. Whether the same one came before.
  bool add(const trace::KernelRow& row) {
    if (!same_start_.empty() && same_start_.front().start_ns != row.start_ns) same_start_.clear();
    if (row.end_ns <= row.start_ns) return false;
    if (std::find(same_start_.begin(), same_start_.end(), row) != same_start_.end()) return true;
    if (same_start_.size() < kMost) same_start_.push_back(row);
    return false;
  }

 private:
  static constexpr std::size_t kMost = 64;  // at one instant
  std::vector<trace::KernelRow> same_start_;
};

}  // namespace aaco::workflows
