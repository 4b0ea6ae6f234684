#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/json.h"

// What parses must survive being written and read again, and be the same then.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = aaco::core::Json::parse({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string text = first->dump(-1);
  const auto second = aaco::core::Json::parse(text);
  if (!second || second->dump(-1) != text) std::abort();
  return 0;
}
