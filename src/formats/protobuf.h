#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

// Protocol Buffers' wire format (protobuf.dev, "Encoding"), read in place. Bytes are input: every length is checked against what
// is there, nothing is allocated and nothing recurses.
namespace aaco::formats::protobuf {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  // of all but bytes
  std::string_view bytes;

  [[nodiscard]] std::int64_t as_i64() const { return static_cast<std::int64_t>(value); }
  [[nodiscard]] double as_double() const {
    return wire == Wire::fixed64   ? std::bit_cast<double>(value)
           : wire == Wire::fixed32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                                   : static_cast<double>(value);
  }
};

// The varint at the front of `text`, which is shortened by it; empty where the text ends inside it or it has more than ten bytes.
std::optional<std::uint64_t> take_varint(std::string_view& text);

// The fields of a message, one after another. A field that is cut, of an unknown wire type or numbered 0 ends the message as
// damaged; the fields before it are good.
class Message {
 public:
  explicit Message(std::string_view text) : rest_(text) {}
  bool next(Field& field);
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace aaco::formats::protobuf
