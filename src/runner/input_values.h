#pragma once

#include <cstdint>

#include "core/random.h"
#include "runner/input_meaning.h"
#include "runner/inputs.h"

namespace aaco::runner {

// Context for the values of an input.
struct StepContext {
  std::int64_t past = 0;  // sequence elements processed by earlier steps
};

// Fills a tensor of known type and shape; the origin describes the values. unsupported for types without a value generator,
// invalid_argument if the shape requires positions beyond the model's table.
core::Result<InputOrigin> fill_values(const InputMeaning& meaning, const StepContext& context, core::Random random,
                                      TensorData& tensor);

}  // namespace aaco::runner
