#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "formats/csv.h"

namespace {

using Records = std::vector<std::vector<std::string>>;

// Hands the text out in windows that grow by `step` until a record is whole.
Records records_of(std::string_view text, std::size_t step) {
  Records records;
  aaco::formats::csv::Decoder decoder;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  const char* seen = step < text.size() ? text.data() + step : end;
  for (;;) {
    if (decoder.next(at, seen, seen == end) == aaco::formats::csv::Step::record)
      records.emplace_back(decoder.fields().begin(), decoder.fields().end());
    else if (seen == end)
      return records;
    else
      seen = static_cast<std::size_t>(end - seen) > step ? seen + step : end;
  }
}

}  // namespace

// Where the windows are cut changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (records_of(text, size + 1) != records_of(text, 3)) std::abort();
  return 0;
}
