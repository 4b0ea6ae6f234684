#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers::kineto {

struct Options {
  std::int32_t rank = 0;          // written into every row; ImportResult::rank says what the file itself claims
  bool launched_kernels = false;  // keep the kernel's name that a launch states (ROCm) among its arguments
  bool python_functions = false;  // keep the frames of Python functions as API calls of domain "python"
};

// Traces of the PyTorch profiler (Kineto), 2021 to 2026 dialects, and any other Chrome trace of complete ("X"), begin/end and
// counter events. Times are the file's own, microseconds made whole ns; where the file has a base time (baseTimeNanoseconds) it
// is in the facts, for joining ranks. GPU kernels, copies, collectives, API calls, operators and annotations become rows,
// ProfilerStep annotations iterations of phase "step".
std::unique_ptr<Importer> make_importer(const Options& options = {});

// The rank that a trace says it is of: in the text (distributedInfo) where `head` or `tail` reaches it, else in the file's name
// ("rank3", "rank_3", "rank-3"). Empty where nothing says so.
std::optional<std::int64_t> rank_of(std::string_view head, std::string_view tail, std::string_view file_name);

}  // namespace aaco::importers::kineto
