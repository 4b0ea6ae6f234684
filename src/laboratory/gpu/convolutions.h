#pragma once

#include <functional>
#include <memory>
#include <string>

#include "laboratory/gpu/device.h"

namespace aaco::laboratory::gpu {

// A forward convolution without bias, NCHW.
struct ConvolutionForm {
  std::string dtype;  // float32 tf32 float16 bfloat16
  int n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1, pad = 0, stride = 1, dilation = 1, groups = 1;

  [[nodiscard]] int out_h() const { return (h + 2 * pad - dilation * (r - 1) - 1) / stride + 1; }
  [[nodiscard]] int out_w() const { return (w + 2 * pad - dilation * (s - 1) - 1) / stride + 1; }
};

// cuDNN 8 or 9, or MIOpen.
class Convolutions {
 public:
  static core::Result<std::shared_ptr<Convolutions>> open(Device& device);
  virtual ~Convolutions() = default;
  // With the algorithm that the library chooses. Unsupported where it has none.
  virtual core::Result<std::function<core::Status()>> make(const ConvolutionForm& form, DevicePointer x, DevicePointer w,
                                                           DevicePointer out) = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

core::Result<std::shared_ptr<Convolutions>> open_cudnn(Device& device);
core::Result<std::shared_ptr<Convolutions>> open_miopen(Device& device);

}  // namespace aaco::laboratory::gpu
