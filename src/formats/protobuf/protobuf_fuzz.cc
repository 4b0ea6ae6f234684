#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/protobuf.h"

// Whatever the bytes: fields lie inside the message, one behind the other, and come to an end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco::formats::protobuf;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Message message(text);
  std::size_t total = 0;
  for (Field field; message.next(field);) {
    if (field.number == 0) std::abort();
    total += field.bytes.size();
    if (!field.bytes.empty() && (field.bytes.data() < text.data() || field.bytes.end() > text.end())) std::abort();
  }
  if (total > size) std::abort();
  return 0;
}
