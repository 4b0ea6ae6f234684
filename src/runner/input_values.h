#pragma once

#include <cstdint>

#include "core/random.h"
#include "runner/input_meaning.h"
#include "runner/inputs.h"

namespace aaco::runner {

// What the values of one input depend on besides its meaning.
struct StepContext {
  std::int64_t past = 0;  // elements of a sequence that earlier steps have seen
};

// Fills a tensor of a known type and shape; the origin says in words with what. unsupported for types no values can be made for,
// invalid_argument where the shape asks for positions beyond the model's table.
core::Result<InputOrigin> fill_values(const InputMeaning& meaning, const StepContext& context, core::Random random,
                                      TensorData& tensor);

}  // namespace aaco::runner
