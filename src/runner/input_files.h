#pragma once

#include <optional>
#include <string>

#include "runner/inputs.h"

namespace aaco::runner {

// The tensor of a .npy, .npz (its member of the input's name, or the only one) or .pb file (an ONNX TensorProto), for the input
// `info`. Fails with invalid_input on another type or NaN values; the caller checks the shape.
core::Result<TensorData> read_input_file(const TensorInfo& info, const std::string& path);

// Counts of non-finite values: NaN is an error for a run, an infinity may be a mask.
struct NonFinite {
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
  std::int64_t first_nan = -1;  // index of the element
};
NonFinite count_non_finite(const TensorData& tensor);

}  // namespace aaco::runner
