#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analytics/fingerprint.h"

using namespace aaco;                          // NOLINT: one function
using namespace aaco::analytics::fingerprint;  // NOLINT

// First a kernel's name, from the second line on a pattern file: any name is classified by any file that is accepted, and every
// decoder takes any name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string name = text.substr(0, line);
  for (const auto decode : {&decode_tensile, &decode_ck, &decode_cutlass, &decode_triton, &decode_asm_conv}) (void)decode(name);
  if (line == std::string::npos) return 0;
  const auto document = core::YamlNode::parse(text.substr(line + 1), "fuzz.yaml");
  PatternBook book;
  if (document && book.add(*document)) (void)book.classify(name);
  return 0;
}
