#include "laboratory/benchmarks/resident.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "core/files.h"
#include "core/handles.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::laboratory::benchmarks {

std::optional<Resident> parse_status(std::string_view text) {
  std::optional<std::int64_t> now, peak;
  for (const std::string_view line : core::split_lines(text)) {
    const auto words = core::split_words(line);
    if (words.size() != 3 || words[2] != "kB") continue;
    constexpr std::int64_t kKibibyte = 1024;
    const auto value = core::parse_i64(words[1]);
    if (!value || *value < 0 || *value > INT64_MAX / kKibibyte) continue;
    if (words[0] == "VmRSS:") now = *value * kKibibyte;
    if (words[0] == "VmHWM:") peak = *value * kKibibyte;
  }
  if (!now || !peak) return std::nullopt;
  return Resident{*now, *peak};
}

std::optional<Resident> resident() {
  const auto text = core::read_file("/proc/self/status");
  return text ? parse_status(*text) : std::nullopt;
}

void trim_allocator() { ::malloc_trim(0); }

bool reset_peak() {
  const core::FileDescriptor file(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), "5", 1) == 1;
}

}  // namespace aaco::laboratory::benchmarks
