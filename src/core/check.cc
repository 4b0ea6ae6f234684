#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace aaco::core {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "aaco: a bug in AACO itself: '%s' does not hold (%s, %d). Please report it.\n", condition, file, line);
  std::abort();
}

}  // namespace aaco::core
