#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::migraphx {

// Output of `migraphx-driver read`, `compile` and `perf`, 2020 to 2026 dialects, also mixed with other log lines: instructions
// become graph nodes and edges, average times of a perf report become node executions, placed one after another as it has
// no timestamps. The facts have the partition ("migraphx": classes of instructions, kernels, modules) and the report's totals.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::migraphx
