#pragma once

#include "runner/ort/api.h"

namespace aaco::runner::ort {

// A build with ONNX's operators in a library of their own (Debian's) registers each of them twice when the first model is opened,
// and writes a line on standard error for each (is_schema_noise). So a model of one node is opened first, while standard error
// goes to a file in memory; what else was written follows. What models of the user's make ONNX Runtime write is never held back.
// Nothing happens where no such build is opened; where such a file cannot be made, the lines are seen. Once, before other models.
void register_operators(const Api& api);

}  // namespace aaco::runner::ort
