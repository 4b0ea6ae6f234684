#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hardware/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto device = aaco::hardware::parse_device(text, "fuzz.yaml")) {
    (void)aaco::hardware::check_invariants(*device);
    (void)aaco::hardware::to_json(*device);
  }
  return 0;
}
