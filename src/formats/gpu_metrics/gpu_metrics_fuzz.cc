#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/gpu_metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static aaco::formats::GpuMetrics metrics;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)aaco::formats::decode_gpu_metrics(bytes, metrics);
  return 0;
}
