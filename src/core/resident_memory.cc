#include "core/resident_memory.h"

#include <sys/resource.h>

namespace aaco::core {

std::int64_t resident_peak_bytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace aaco::core
