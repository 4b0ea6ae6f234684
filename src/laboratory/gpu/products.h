#pragma once

#include <functional>
#include <memory>
#include <string>

#include "laboratory/gpu/device.h"

namespace aaco::laboratory::gpu {

// out[m, n] = x[m, k] * w[n, k] transposed, as a linear layer has it; in batches out = x[m, k] * y[k, n], where the type can.
struct ProductShape {
  std::string dtype;  // float64 float32 tf32 float16 bfloat16 float8 int8
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
};

// Bytes of an element of the operands, and of the result: bfloat16 of float8, int32 of int8.
struct ProductBytes {
  std::int64_t operand = 0, result = 0;
};
core::Result<ProductBytes> product_bytes(const std::string& dtype);

// cuBLASLt or hipBLASLt.
class Products {
 public:
  static core::Result<std::shared_ptr<Products>> open(Device& device);
  virtual ~Products() = default;
  // A product with the algorithm that the library's heuristics put first, on the device's stream. Unsupported where there is
  // none.
  virtual core::Result<std::function<core::Status()>> make(const ProductShape& shape, DevicePointer x, DevicePointer w,
                                                           DevicePointer out) = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace aaco::laboratory::gpu
