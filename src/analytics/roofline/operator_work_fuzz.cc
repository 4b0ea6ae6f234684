#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analytics/kernel_work.h"

using namespace aaco;  // NOLINT: one function

// Whatever a trace says of shapes, work is finite and above 0 or not known.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto arguments = core::Json::parse(text);
  if (!arguments) return 0;
  for (const std::string_view name :
       {"aten::mm", "aten::addmm", "aten::_scaled_mm", "aten::bmm", "aten::baddbmm", "aten::_convolution",
        "aten::cudnn_convolution", "aten::miopen_convolution", "aten::cudnn_convolution_backward_input",
        "aten::convolution_backward", "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention", "aten::_flash_attention_forward"}) {
    const auto work = analytics::roofline::operator_work(name, *arguments);
    if (work && (!std::isfinite(work->flops) || !std::isfinite(work->bytes) || work->flops <= 0 || work->bytes <= 0))
      std::abort();
  }
  return 0;
}
