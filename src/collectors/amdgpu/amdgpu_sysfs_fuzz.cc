#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectors/amdgpu/sysfs_text.h"

using namespace aaco::collectors::amdgpu;  // NOLINT: one function

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_level(text);
  (void)parse_current_clock(text);
  (void)parse_clock_levels(text);
  (void)parse_link_speed(text);
  (void)parse_correctable(text);
  (void)parse_uncorrectable(text);
  return 0;
}
