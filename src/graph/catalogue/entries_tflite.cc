#include "graph/catalogue/entry.h"

namespace aaco::graph {

std::span<const Entry> tflite_entries() { return {}; }

}  // namespace aaco::graph
