#include "collectors/ebpf/thread_names.h"

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::collectors::ebpf {

void ThreadNames::keep(std::uint32_t thread, std::string name) {
  if (!threads_.insert_or_assign(thread, std::move(name)).second) return;
  order_.push_back(thread);
  if (order_.size() <= kMaxNames) return;
  threads_.erase(order_.front());
  order_.pop_front();
}

void ThreadNames::ended(std::uint32_t thread, std::string name) {
  const std::lock_guard lock(mutex_);
  keep(thread, std::move(name));
}

std::string ThreadNames::of_thread(std::uint32_t process, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  if (const auto known = threads_.find(thread); known != threads_.end()) return known->second;
  const auto text =
      core::read_file(root_.at("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/comm"), 64);
  std::string name(text ? core::trim(*text) : std::string_view());
  keep(thread, name);
  return name;
}

std::string ThreadNames::of_interrupt(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  if (!interrupts_) {
    const auto text = core::read_file(root_.at("/proc/interrupts"));
    interrupts_ = parse_interrupts(text ? std::string_view(*text) : std::string_view());
  }
  const auto known = interrupts_->find(number);
  return known != interrupts_->end() ? known->second : "irq " + std::to_string(number);
}

std::unordered_map<std::uint32_t, std::string> parse_interrupts(std::string_view text) {
  std::unordered_map<std::uint32_t, std::string> names;
  for (const std::string_view line : core::split_lines(text)) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto number = core::parse_i64(core::trim(line.substr(0, colon)));
    const std::string_view rest = core::trim(line.substr(colon + 1));
    const auto space = rest.find_last_of(" \t");
    if (!number || *number < 0 || *number > INT32_MAX || space == std::string_view::npos) continue;
    names.emplace(static_cast<std::uint32_t>(*number), rest.substr(space + 1));
  }
  return names;
}

}  // namespace aaco::collectors::ebpf
