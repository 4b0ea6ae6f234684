#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace aaco::graph::onnx {

// Protocol-buffer fields appended to a string (the wire format of protobuf.dev, "Encoding"). Small messages only: large payloads
// are announced with length_prefix and streamed by the caller.
class WireWriter {
 public:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void int_field(std::uint32_t field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
  }
  void float_field(std::uint32_t field, float value) {
    varint(field << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void bytes_field(std::uint32_t field, std::string_view value) {
    length_prefix(field, value.size());
    bytes_.append(value);
  }
  // The head of a field whose `length` bytes follow.
  void length_prefix(std::uint32_t field, std::uint64_t length) {
    varint(field << 3 | 2);
    varint(length);
  }
  void append(std::string_view encoded) { bytes_.append(encoded); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace aaco::graph::onnx
