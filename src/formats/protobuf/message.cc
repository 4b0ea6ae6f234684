#include "formats/protobuf.h"

namespace aaco::formats::protobuf {
namespace {

constexpr std::size_t kVarintBytes = 10;

std::optional<std::uint64_t> take_fixed(std::string_view& text, std::size_t bytes) {
  if (text.size() < bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<unsigned char>(text[i]);
  text.remove_prefix(bytes);
  return value;
}

}  // namespace

std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < text.size() && i < kVarintBytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (i + 1 == kVarintBytes && byte > 1) return std::nullopt;  // above 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    text.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

bool Message::next(Field& field) {
  if (damaged_ || rest_.empty()) return false;
  damaged_ = true;  // unless the field is whole
  const auto key = take_varint(rest_);
  if (!key || *key >> 3U == 0 || *key >> 3U > 0x1FFFFFFFU) return false;
  field.number = static_cast<std::uint32_t>(*key >> 3U);
  field.bytes = {};
  field.value = 0;
  std::optional<std::uint64_t> value;
  switch (*key & 7U) {
    case 0: value = take_varint(rest_); break;
    case 1: value = take_fixed(rest_, 8); break;
    case 5: value = take_fixed(rest_, 4); break;
    case 2: {
      const auto length = take_varint(rest_);
      if (!length || *length > rest_.size()) return false;
      field.bytes = rest_.substr(0, *length);
      rest_.remove_prefix(*length);
      value = 0;
      break;
    }
    default: return false;  // groups are not written by anything that is read here
  }
  if (!value) return false;
  field.wire = static_cast<Wire>(*key & 7U);
  field.value = *value;
  damaged_ = false;
  return true;
}

}  // namespace aaco::formats::protobuf
