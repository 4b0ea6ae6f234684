#include "tracelake/store/thrift_reader.h"

namespace aaco::tracelake::store {

void ThriftReader::damage() {
  damaged_ = true;
  at_ = text_.size();
}

std::uint64_t ThriftReader::varint() {
  constexpr unsigned kMaxBits = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kMaxBits && at_ < text_.size(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(text_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  damage();
  return 0;
}

std::int64_t ThriftReader::integer() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

bool ThriftReader::next(Field& field) {
  if (at_ >= text_.size()) {
    damage();
    return false;
  }
  const auto head = static_cast<std::uint8_t>(text_[at_++]);
  if (head == 0) return false;
  const auto type = static_cast<std::uint8_t>(head & 0x0FU);
  if (type == 0 || type > static_cast<std::uint8_t>(Type::structure)) {
    damage();
    return false;
  }
  field.type = static_cast<Type>(type);
  const int step = head >> 4U;
  field.id = step != 0 ? field.id + step : static_cast<std::int32_t>(integer());
  return !damaged_;
}

ThriftReader::List ThriftReader::list() {
  if (at_ >= text_.size()) {
    damage();
    return {};
  }
  const auto head = static_cast<std::uint8_t>(text_[at_++]);
  constexpr unsigned kLong = 15;
  List list{static_cast<std::uint64_t>(head >> 4U), static_cast<Type>(head & 0x0FU)};
  if (list.size == kLong) list.size = varint();
  if (list.type > Type::structure || list.size > text_.size() - at_) damage();  // each element takes a byte at least
  return damaged_ ? List{} : list;
}

std::string_view ThriftReader::binary() {
  const std::uint64_t size = varint();
  if (size > text_.size() - at_) damage();
  if (damaged_) return {};
  at_ += size;
  return text_.substr(at_ - size, size);
}

void ThriftReader::skip(Type type, int depth) {
  if (depth > kMaxDepth) return damage();
  const auto bytes = [this](std::size_t count) {
    if (count > text_.size() - at_) return damage();
    at_ += count;
  };
  switch (type) {
    case Type::stop:
    case Type::yes:
    case Type::no: return;
    case Type::byte: return bytes(1);
    case Type::i16:
    case Type::i32:
    case Type::i64: (void)varint(); return;
    case Type::real: return bytes(8);
    case Type::binary: (void)binary(); return;
    case Type::list:
    case Type::set: {
      const List elements = list();
      const bool boolean = elements.type == Type::yes || elements.type == Type::no;
      if (boolean) return bytes(elements.size);
      for (std::uint64_t i = 0; i < elements.size && !damaged_; ++i) skip(elements.type, depth + 1);
      return;
    }
    case Type::map: return damage();  // Parquet has none
    case Type::structure:
      for (Field field; next(field);) skip(field.type, depth + 1);
      return;
  }
}

}  // namespace aaco::tracelake::store
