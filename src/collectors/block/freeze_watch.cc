#include "collectors/freeze_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/scanner.h"
#include "hardware/controller_group.h"

namespace aaco::collectors {

FreezeWatch::FreezeWatch(const SysRoot& root, std::int64_t process_id) {
  const hardware::FreezerFiles files = hardware::find_freezer(root.path, process_id);
  for (const std::string& file : files.times) times_.push_back(root.at(file));
  if (files.controls.empty()) return;
  events_ = core::FileDescriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events_.valid()) return;
  for (const std::string& file : files.controls)
    if (::inotify_add_watch(events_.get(), root.at(file).c_str(), IN_MODIFY) >= 0) watching_ = true;
}

bool FreezeWatch::used() {
  bool any = false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  while (watching_ && ::read(events_.get(), buffer.data(), buffer.size()) > 0) any = true;
  return any;
}

std::optional<std::int64_t> FreezeWatch::frozen_ns() const {
  std::optional<std::int64_t> total;
  for (const std::string& file : times_) {
    const auto text = probe::read_small(file);
    if (!text) continue;
    if (const auto one = parse_frozen_ns(*text)) total = total.value_or(0) + *one;
  }
  return total;
}

std::optional<std::int64_t> parse_frozen_ns(std::string_view stat) {
  constexpr std::uint64_t kNsPerMicrosecond = 1000;
  const auto us = probe::keyed_u64(stat, "frozen_usec");
  if (!us || *us > INT64_MAX / kNsPerMicrosecond) return std::nullopt;
  return static_cast<std::int64_t>(*us * kNsPerMicrosecond);
}

}  // namespace aaco::collectors
