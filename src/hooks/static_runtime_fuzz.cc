#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hooks/static_runtime.h"

// The symbol tables of a program of somebody else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)aaco::hooks::has_static_runtime_bytes({reinterpret_cast<const char*>(data), size});
  return 0;
}
