#include "graph/catalogue/entry.h"

namespace aaco::graph {

std::span<const Entry> aten_entries() { return {}; }

}  // namespace aaco::graph
