#include "runner/memory_fit.h"

#include <algorithm>
#include <optional>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::int64_t kSmallFile = 1 << 20;

std::optional<std::int64_t> read_number(const std::string& path) {
  const auto text = core::read_file(path, kSmallFile);
  return text ? core::parse_i64(core::trim(*text)) : std::nullopt;
}

// The number after `key` in a file of "key number" lines.
std::optional<std::int64_t> read_keyed(const std::string& path, std::string_view key) {
  const auto text = core::read_file(path, kSmallFile);
  if (!text) return std::nullopt;
  for (const std::string_view line : core::split_lines(*text)) {
    const auto words = core::split_words(line);
    if (words.size() >= 2 && words[0] == key) return core::parse_i64(words[1]);
  }
  return std::nullopt;
}

struct Controller {
  std::string folder;  // where its hierarchy is mounted
  const char *limit, *usage, *droppable;
};

// What is left in the group at `path` and in each one around it: the least counts.
void narrow(const Controller& controller, std::string path, std::int64_t& room) {
  for (;;) {
    const std::string folder = controller.folder + (path == "/" ? "" : path);
    const auto limit = read_number(core::join_path(folder, controller.limit));  // "max" is no number: no limit
    const auto usage = read_number(core::join_path(folder, controller.usage));
    if (limit && usage) {
      const std::int64_t droppable = read_keyed(core::join_path(folder, "memory.stat"), controller.droppable).value_or(0);
      room = std::min(room, std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - droppable)));
    }
    if (path.empty() || path == "/") return;
    path = path.substr(0, path.rfind('/'));
  }
}

std::int64_t cgroup_room(const std::string& root) {
  std::int64_t room = INT64_MAX;
  const auto text = core::read_file(root + "/proc/self/cgroup", kSmallFile);
  if (!text) return room;
  for (const std::string_view line : core::split_lines(*text)) {
    const std::size_t first = line.find(':'), second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto controllers = core::split(line.substr(first + 1, second - first - 1), ',');
    std::string path(line.substr(second + 1));
    if (line.starts_with("0::")) {
      narrow({root + "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}, std::move(path), room);
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      narrow({root + "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
             std::move(path), room);
    }
  }
  return room;
}

// What setrlimit(RLIMIT_AS), "ulimit -v", leaves.
std::int64_t address_room(const std::string& root) {
  const auto limits = core::read_file(root + "/proc/self/limits", kSmallFile);
  const auto used = read_keyed(root + "/proc/self/status", "VmSize:");
  if (!limits || !used) return INT64_MAX;
  for (const std::string_view line : core::split_lines(*limits)) {
    const auto words = core::split_words(line);
    if (words.size() < 4 || !line.starts_with("Max address space")) continue;
    const auto limit = core::parse_i64(words[3]);  // "unlimited" is no number
    return limit ? std::max<std::int64_t>(0, *limit - *used * 1024) : INT64_MAX;
  }
  return INT64_MAX;
}

}  // namespace

core::Result<MemoryRoom> memory_room(const std::string& root) {
  const auto available = read_keyed(root + "/proc/meminfo", "MemAvailable:");
  if (!available) return fail(ErrorCode::unsupported, root + "/proc/meminfo does not report available memory");
  MemoryRoom least{*available * 1024, "free memory"};
  if (const std::int64_t group = cgroup_room(root); group < least.bytes) least = {group, "cgroup limit"};
  if (const std::int64_t addresses = address_room(root); addresses < least.bytes)
    least = {addresses, "limit of the address space"};
  return least;
}

core::Status require_memory(const std::string& what, std::int64_t needed_bytes, const MemoryRoom& room) {
  if (needed_bytes <= room.bytes) return {};
  return fail(
      ErrorCode::exhausted,
      what + " needs about " + core::format_bytes(static_cast<double>(needed_bytes)) + " of memory to run, but only " +
          core::format_bytes(static_cast<double>(room.bytes)) + " are available (" + room.bound + "); it was not run",
      "use a smaller model or data type, or a machine with more memory; predicting it (aaco analyze) does not need the memory");
}

}  // namespace aaco::runner
