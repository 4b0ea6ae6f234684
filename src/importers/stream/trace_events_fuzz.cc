#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/stream/source_testing.h"
#include "importers/stream/tokens.h"
#include "importers/stream/trace_events.h"

namespace {

using namespace aaco;

// Every value that was handed out, one after another.
std::string texts(const std::string& document, std::size_t window) {
  importers::TextSource source(document, window);
  std::string all;
  const auto end = importers::read_trace_events(
      source,
      [&](std::span<const importers::TraceEvent> batch) -> core::Status {
        for (const auto& event : batch) {
          for (const std::string_view value : {event.name, event.category, event.phase, event.timestamp, event.duration,
                                               event.process, event.thread, event.id, event.args})
            all.append(value).push_back('\n');
          (void)importers::microseconds_to_ns(event.timestamp);
          (void)importers::unescape(event.name);
        }
        return {};
      },
      {.window_bytes = window, .value_bytes = std::size_t{1} << 24});
  return end ? all + (end->complete ? "whole" : end->trouble) : "refused";
}

}  // namespace

// The windows must make no difference.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string document(reinterpret_cast<const char*>(data), size);
  if (texts(document, 64) != texts(document, 1U << 16)) std::abort();
  return 0;
}
