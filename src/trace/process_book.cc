#include "trace/process_book.h"

namespace aaco::trace {

std::int32_t ProcessBook::number(std::string_view process) {
  if (last_rank_ >= 0 && last_ == process) return last_rank_;
  auto known = ranks_.find(process);
  if (known == ranks_.end()) {
    if (ranks_.size() >= kMax) {
      overflowed_ = true;
      return 0;
    }
    known = ranks_.emplace(std::string(process), static_cast<std::int32_t>(ranks_.size())).first;
  }
  last_ = process;
  last_rank_ = known->second;
  return last_rank_;
}

ProcessPlace ProcessBook::of_work(std::string_view process) {
  if (process.empty()) return {};
  const std::size_t before = ranks_.size();
  const std::int32_t rank = number(process);
  working_ += ranks_.size() - before;
  return {rank, true};
}

ProcessPlace ProcessBook::of_call(std::string_view process) {
  if (process.empty()) return {};
  if (working_ == 0) {
    if (early_.size() < kMax && !early_.contains(process)) early_.emplace(process);
    return {};
  }
  if (working_ == 1) return {0, ranks_.contains(process)};
  return {number(process), true};
}

}  // namespace aaco::trace
