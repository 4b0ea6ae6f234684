#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace aaco::core {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "aaco: internal error: check '%s' failed at %s, line %d. Please report this bug.\n", condition, file,
               line);
  std::abort();
}

}  // namespace aaco::core
