#include <cmath>
#include <cstdint>

#include "core/check.h"
#include "serving/server_metrics.h"

// Any text is read or passed over; what is read is finite.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<aaco::serving::Dialect> dialects = {
      {.id = "a",
       .metrics = {{.id = "server.x", .names = {"vllm:num_requests_running", "b"}, .combine = aaco::serving::Combine::sum}}}};
  (void)aaco::serving::read_server_metrics(dialects, text);
  if (const auto sample = aaco::serving::parse_prometheus_line(text))
    AACO_CHECK(std::isfinite(sample->value) && !sample->name.empty());
  return 0;
}
