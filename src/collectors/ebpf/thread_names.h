#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "collectors/collector.h"

namespace aaco::collectors::ebpf {

// Names of threads from /proc, or as they had them when they ended, the newest kMaxNames; of interrupts from /proc/interrupts.
// Any thread may call.
class ThreadNames {
 public:
  static constexpr std::size_t kMaxNames = 8192;
  explicit ThreadNames(SysRoot root) : root_(std::move(root)) {}
  void ended(std::uint32_t thread, std::string name);
  // Empty where it was never known.
  std::string of_thread(std::uint32_t process, std::uint32_t thread);
  // The device's or driver's name, or "irq 24".
  std::string of_interrupt(std::uint32_t number);
  [[nodiscard]] std::size_t size() const { return threads_.size(); }

 private:
  void keep(std::uint32_t thread, std::string name);

  SysRoot root_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::string> threads_;
  std::deque<std::uint32_t> order_;  // of threads_, oldest first
  std::optional<std::unordered_map<std::uint32_t, std::string>> interrupts_;
};

// The last word of each numbered line of /proc/interrupts.
std::unordered_map<std::uint32_t, std::string> parse_interrupts(std::string_view text);

}  // namespace aaco::collectors::ebpf
