#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/onnx/input.h"

namespace aaco::graph::onnx {

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t length() const { return end - begin; }
};

// One field of a protobuf message as it stands in the file.
struct Field {
  enum Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Wire wire = varint;
  std::uint64_t value = 0;  // of varint, fixed32 and fixed64
  Range range;              // of bytes: where they lie

  [[nodiscard]] std::int64_t as_int() const { return static_cast<std::int64_t>(value); }
  [[nodiscard]] double as_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
};

// Reads the fields of one message in order. Damage is reported to the input and ends the reading.
class WireReader {
 public:
  WireReader(Input& input, Range range) : input_(input), at_(range.begin), end_(range.end) {}
  // The next field, or false at the message's end and after an error.
  bool next(Field& field);
  // A bare varint (inside a packed field).
  bool next_varint(std::uint64_t& value);
  [[nodiscard]] bool done() const { return at_ >= end_; }

 private:
  bool take(int bytes, std::uint64_t& value);
  bool broken(const char* what);
  Input& input_;
  std::int64_t at_;
  std::int64_t end_;
};

// The text of a bytes field; an error where it is of another kind or longer than any name may be.
std::string text_of(Input& input, const Field& field);
// Appends a repeated integer field, packed or not.
void append_ints(Input& input, const Field& field, std::vector<std::int64_t>& out);
// Appends a repeated float (fixed32) field, packed or not.
void append_floats(Input& input, const Field& field, std::vector<double>& out);

}  // namespace aaco::graph::onnx
