#include "core/resident_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::core {

std::int64_t resident_peak_bytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::optional<std::int64_t> resident_bytes() {
  const auto text = read_file("/proc/self/statm");
  if (!text) return std::nullopt;
  const auto fields = split(*text, ' ');  // total, resident ... in pages
  const auto pages = fields.size() > 1 ? parse_i64(fields[1]) : std::nullopt;
  return pages ? std::optional(*pages * ::sysconf(_SC_PAGESIZE)) : std::nullopt;
}

}  // namespace aaco::core
