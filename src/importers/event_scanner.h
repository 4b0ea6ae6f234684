#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

struct ScanEnd {
  bool complete = false;       // the array was closed
  std::int64_t bytes = 0;      // total read
  std::int64_t cut_bytes = 0;  // of an incomplete last element
};

// Hands each element (an object's text) of a JSON array of objects to `visit`, in bounded memory: the array is the document
// itself, or the member "traceEvents" of an object. A truncated file yields every complete element. Fails if the text is no such
// document, or if an element is larger than `element_limit_bytes`. `visit` may return an error to stop the scan. The text
// passed to it is followed by at least 64 readable bytes (as simdjson requires).
core::Result<ScanEnd> scan_events(trace::ByteSource& source, const std::function<core::Status(std::string_view element)>& visit,
                                  std::int64_t element_limit_bytes = std::int64_t{64} << 20);

}  // namespace aaco::importers
