#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "trace/account.h"
#include "trace/session.h"
#include "workflows/captured_launch.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct Captures {
  std::vector<CapturedLaunch> launches;  // in order
  std::vector<trace::Account> accounts;  // of the files
  std::vector<trace::Warning> warnings;
};

// Reads traces of the capture of HIP or CUDA graphs: the calls made while the graph was captured, under their operators, tell
// what each of its kernels is for. Kernel names come from the trace's kernels (of runs before the capture) or, where nothing ran,
// from what its launches say of themselves. A file that tells nothing is a warning; one that cannot be read is an error.
core::Result<Captures> read_captures(const std::vector<std::string>& paths, const Services& services);

}  // namespace aaco::workflows
