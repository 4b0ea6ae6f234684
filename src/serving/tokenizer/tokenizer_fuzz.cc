#include <cstdint>

#include "core/check.h"
#include "core/json.h"
#include "serving/tokenizer.h"
#include "serving/tokenizer/splitter.h"

// A line of tokenizer.json, then text: any document is read or refused, any text is encoded, and the words together are the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\n');
  const std::string_view text = end == std::string_view::npos ? all : all.substr(end + 1);
  for (const auto& pattern : {aaco::serving::SplitPattern{false, 0}, aaco::serving::SplitPattern{true, 3}}) {
    std::string joined;
    for (const std::string_view word : aaco::serving::split_words_by(pattern, text)) joined += word;
    AACO_CHECK(joined == text);
  }
  const auto document = aaco::core::Json::parse(all.substr(0, end));
  if (!document) return 0;
  if (const auto tokenizer = aaco::serving::Tokenizer::parse(*document)) (void)tokenizer->encode(text.substr(0, 300));
  return 0;
}
