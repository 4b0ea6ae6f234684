#include <cstddef>
#include <cstdint>
#include <string_view>

#include "estimation/decoder.h"

// Any text as a config.json: what is accepted has sizes that estimates can use.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = aaco::core::Json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const auto model = aaco::estimation::read_decoder(*json, "fuzz");
  if (model && !(model->parameters() > 0)) __builtin_trap();
  return 0;
}
