#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analytics/bottleneck.h"

// A rule book from any text, and an answer from whatever was accepted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace bottleneck = aaco::analytics::bottleneck;
  const auto document = aaco::core::YamlNode::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!document) return 0;
  const auto book = bottleneck::RuleBook::parse(*document);
  if (!book) return 0;
  aaco::analytics::signals::Signals signals;
  signals.set("caller.wait_ratio", 0.2);
  signals.set("work.intensity", 3);
  const auto found = bottleneck::classify_by_rules(*book, signals);
  (void)to_json(found, *book);
  return 0;
}
