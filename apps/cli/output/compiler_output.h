#pragma once

#include "core/json.h"

namespace aaco::cli {

struct Context;

// A document of `aaco compiler` (docs/formats/compiler.md); of two models the difference alone.
void print_compiler(const Context& context, const core::Json& document);
// `against` of kind "model".
void print_model_difference(const Context& context, const core::Json& against);

}  // namespace aaco::cli
