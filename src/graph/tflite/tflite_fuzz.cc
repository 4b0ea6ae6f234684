#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/tflite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto read = aaco::graph::tflite::parse(bytes, "fuzz"); read) (void)aaco::graph::total_constants(read->graph);
  return 0;
}
