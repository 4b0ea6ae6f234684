#include "graph/onnx/wire_reader.h"

namespace aaco::graph::onnx {
namespace {

constexpr std::int64_t kMaxTextBytes = 16 << 20;
constexpr int kMaxVarintBytes = 10;

}  // namespace

bool WireReader::broken(const char* what) {
  input_.fail(core::ErrorCode::invalid_input, "damaged at byte " + std::to_string(at_) + ": " + what,
              "download or copy the file again: it may be truncated");
  return false;
}

bool WireReader::next_varint(std::uint64_t& value) {
  value = 0;
  const std::string_view bytes = input_.view(at_, std::min<std::int64_t>(kMaxVarintBytes, end_ - at_));
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    const auto byte = static_cast<std::uint8_t>(bytes[index]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * index);
    if ((byte & 0x80U) != 0) continue;
    at_ += static_cast<std::int64_t>(index) + 1;
    return true;
  }
  return broken("unterminated varint");
}

bool WireReader::take(int bytes, std::uint64_t& value) {
  const std::string_view part = at_ + bytes <= end_ ? input_.view(at_, bytes) : std::string_view();
  if (part.size() < static_cast<std::size_t>(bytes)) return broken("truncated number");
  value = 0;
  for (int index = 0; index < bytes; ++index)
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(part[static_cast<std::size_t>(index)])) << (8 * index);
  at_ += bytes;
  return true;
}

bool WireReader::next(Field& field) {
  if (input_.failed() || done()) return false;
  std::uint64_t tag = 0;
  if (!next_varint(tag)) return false;
  const auto wire = static_cast<std::uint8_t>(tag & 7U);
  if (tag >> 3 == 0 || tag >> 32 != 0) return broken("invalid field number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.wire = static_cast<Field::Wire>(wire);
  switch (wire) {
    case Field::varint: return next_varint(field.value);
    case Field::fixed64: return take(8, field.value);
    case Field::fixed32: return take(4, field.value);
    case Field::bytes: break;
    default: return broken("invalid wire type");
  }
  std::uint64_t length = 0;
  if (!next_varint(length)) return false;
  if (length > static_cast<std::uint64_t>(end_ - at_)) return broken("a field is longer than its message");
  field.range = {at_, at_ + static_cast<std::int64_t>(length)};
  at_ = field.range.end;
  return true;
}

std::string text_of(Input& input, const Field& field) {
  if (field.wire != Field::bytes || field.range.length() > kMaxTextBytes) {
    input.fail(core::ErrorCode::invalid_input,
               "a name is not valid text or longer than " + std::to_string(kMaxTextBytes >> 20) + " MiB");
    return {};
  }
  return input.copy(field.range.begin, field.range.length());
}

void append_ints(Input& input, const Field& field, std::vector<std::int64_t>& out) {
  if (field.wire == Field::varint) {
    input.charge(sizeof(std::int64_t));
    out.push_back(field.as_int());
    return;
  }
  if (field.wire != Field::bytes)
    return input.fail(core::ErrorCode::invalid_input, "a list of integers has the wrong element type");
  WireReader reader(input, field.range);
  for (std::uint64_t value = 0; !input.failed() && !reader.done() && reader.next_varint(value);) {
    input.charge(sizeof(std::int64_t));
    out.push_back(static_cast<std::int64_t>(value));
  }
}

void append_floats(Input& input, const Field& field, std::vector<double>& out) {
  if (field.wire == Field::fixed32) {
    input.charge(sizeof(double));
    out.push_back(field.as_float());
    return;
  }
  if (field.wire != Field::bytes || field.range.length() % 4 != 0)
    return input.fail(core::ErrorCode::invalid_input, "a list of numbers has the wrong element type or length");
  for (std::int64_t at = field.range.begin; at < field.range.end && !input.failed(); at += 4) {
    input.charge(sizeof(double));
    const std::string_view part = input.view(at, 4);
    if (part.size() < 4) return;
    std::uint32_t bits = 0;
    for (std::size_t index = 0; index < 4; ++index)
      bits |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(part[index])) << (8 * index);
    out.push_back(std::bit_cast<float>(bits));
  }
}

}  // namespace aaco::graph::onnx
