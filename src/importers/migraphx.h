#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::migraphx {

// What `migraphx-driver read`, `compile` and `perf` print, 2020 to 2026 dialects, also among other lines of a log: instructions
// become graph nodes and edges, their average times of a perf report node executions, laid one after the other as the report has
// no times of day. The facts have the partition ("migraphx": classes of instructions, kernels, modules) and the report's totals.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::migraphx
