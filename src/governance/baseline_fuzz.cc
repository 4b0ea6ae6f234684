#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "governance/baseline.h"

// What was understood is written and understood again, the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = aaco::governance::parse_baseline({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!read) return 0;
  const std::string text = to_yaml(*read);
  const auto again = aaco::governance::parse_baseline(text, "again.yaml");
  if (!again || to_yaml(*again) != text) std::abort();
  return 0;
}
