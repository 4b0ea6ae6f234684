#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)aaco::formats::npy::parse_npy(bytes);
  (void)aaco::formats::npy::parse_npz(bytes, 1 << 20);
  return 0;
}
