#pragma once

#include <vector>

#include "hardware/fingerprint.h"

namespace aaco::hardware {

// How this process was started, as far as it differs from the usual: process.nice, process.scheduler (batch, idle, fifo, rr,
// deadline), environment.preload (file names in LD_PRELOAD), environment.allocator (MALLOC_* and GLIBC_TUNABLES) and
// process.tracer (strace, gdb). Empty: all as usual, which is what a fingerprint without these facts means.
std::vector<Fact> process_facts();

}  // namespace aaco::hardware
