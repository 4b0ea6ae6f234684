#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "formats/protobuf.h"
#include "trace/source.h"

namespace aaco::importers {

// How a stream of protobuf fields ended.
struct MessagesEnd {
  bool complete = false;  // at the end of a field
  std::string trouble;    // why not
  std::int64_t bytes = 0;
  std::int64_t fields = 0;     // handed out whole
  std::int64_t oversized = 0;  // fields above the limit, skipped
};

// Hands out the fields of the outermost message one by one, in bounded memory: a field of at most `max_bytes` is whole, a larger
// one is skipped and counted. Of a stream that is cut inside a field of bytes, what is there of it is handed out last, with `cut`
// set. Fails where reading fails or `visit` does.
core::Result<MessagesEnd> read_messages(trace::ByteSource& source, std::size_t max_bytes,
                                        const std::function<core::Status(const formats::protobuf::Field&, bool cut)>& visit);

}  // namespace aaco::importers
