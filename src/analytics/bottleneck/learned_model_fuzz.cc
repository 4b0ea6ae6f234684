#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analytics/bottleneck.h"

// A learned model from any JSON, and an answer from whatever was accepted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace bottleneck = aaco::analytics::bottleneck;
  const auto document = aaco::core::Json::parse({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  const auto features = bottleneck::features_of({}, {});
  const auto model = bottleneck::model_from_json(*document, features.names);
  if (model) (void)score(*model, features);
  return 0;
}
