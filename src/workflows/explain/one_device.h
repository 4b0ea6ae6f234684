#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "trace/metric.h"

namespace aaco::workflows {

// Processes that ran at the same time on devices of the same number, of a profiler that counts the devices each process sees:
// whether they share one GPU is unknown, and with it whether `judged` waited or was busy with the others' work. What is to be
// said then; empty where the files state ranks of a job, the processes run collectives, or the others' work is little of its
// span.
std::optional<std::string> may_be_one_device(const core::Json& gpus, const core::Json& judged, const core::Json& files,
                                             const trace::Metrics& metrics);

}  // namespace aaco::workflows
