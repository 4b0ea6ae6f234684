#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectors/kmod/drm_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  aaco::collectors::kmod::DrmText sum;
  (void)sum.add({reinterpret_cast<const char*>(data), size});
  return 0;
}
