#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "formats/smi_text.h"

// Every reading is a finite number of a known metric, whatever the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco::formats::smi_text;
  const auto log = decode({reinterpret_cast<const char*>(data), size});
  if (!log) return 0;
  for (const Reading& reading : log->readings)
    if (!std::isfinite(reading.value) || !reading.metric.starts_with("gpu.") || reading.device < 0 || reading.snapshot < 0)
      std::abort();
  return 0;
}
