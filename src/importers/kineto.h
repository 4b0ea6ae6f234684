#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers::kineto {

// Python function frames from this length on are kept: they explain gaps in which the host did something else than dispatch
// (analytics/gaps.h, kLaunchGapNs), and there are few of them: up to 3 % in the shared traces, 12 % in one of a small model.
inline constexpr std::int64_t kLongFrameNs = 200'000;

struct Options {
  std::int32_t rank = 0;          // written into every row; ImportResult::rank has the rank stated by the file
  bool launched_kernels = false;  // keep the kernel name stated by a launch (ROCm) in its arguments
  bool python_functions = false;  // keep all Python function frames as API calls of domain "python", not only the long ones
};

// Traces of the PyTorch profiler (Kineto), 2021 to 2026 dialects, and any other Chrome trace of complete ("X"), begin/end and
// counter events. Times are those of the file, microseconds converted to ns; a base time (baseTimeNanoseconds)
// is stored in the facts, for joining ranks. GPU kernels, copies, collectives, API calls, operators and annotations become rows,
// ProfilerStep annotations iterations of phase "step".
std::unique_ptr<Importer> make_importer(const Options& options = {});

// The rank stated by a trace: in the text (distributedInfo) if `head` or `tail` contains it, else in the file name
// ("rank3", "rank_3", "rank-3"). Empty if not stated.
std::optional<std::int64_t> rank_of(std::string_view head, std::string_view tail, std::string_view file_name);

}  // namespace aaco::importers::kineto
