#include "graph/tflite/flat_table.h"

namespace aaco::graph::tflite {
namespace {

constexpr std::uint64_t kMaxText = 1 << 16;

}  // namespace

std::uint64_t FlatBytes::number(std::uint64_t at, std::size_t size) {
  if (at > data.size() || size > data.size() - at) {
    damaged = true;
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < size; ++index)
    value |= std::uint64_t{static_cast<std::uint8_t>(data[static_cast<std::size_t>(at) + index])} << (8 * index);
  return value;
}

FlatTable::FlatTable(FlatBytes& bytes, std::uint64_t at) : bytes_(&bytes), at_(at) {
  const auto back = static_cast<std::int32_t>(bytes.number(at, 4));
  const std::int64_t vtable = static_cast<std::int64_t>(at) - back;
  if (vtable < 0) bytes.damaged = true;
  vtable_ = vtable < 0 ? 0 : static_cast<std::uint64_t>(vtable);
  vtable_bytes_ = bytes.number(vtable_, 2);
  if (vtable_bytes_ < 4) bytes.damaged = true;
  if (bytes.damaged) vtable_bytes_ = 0;
}

FlatTable FlatTable::root(FlatBytes& bytes) { return {bytes, bytes.number(0, 4)}; }

std::uint64_t FlatTable::place(int field) const {
  const std::uint64_t entry = 4 + 2 * static_cast<std::uint64_t>(field);
  if (bytes_ == nullptr || entry + 2 > vtable_bytes_) return 0;
  const std::uint64_t offset = bytes_->number(vtable_ + entry, 2);
  return offset == 0 ? 0 : at_ + offset;
}

std::uint64_t FlatTable::follow(std::uint64_t at) const { return at + bytes_->number(at, 4); }

std::uint64_t FlatTable::unsigned_number(int field, std::size_t size, std::uint64_t fallback) const {
  const std::uint64_t at = place(field);
  return at == 0 ? fallback : bytes_->number(at, size);
}

std::int64_t FlatTable::signed_number(int field, std::size_t size, std::int64_t fallback) const {
  const std::uint64_t at = place(field);
  if (at == 0) return fallback;
  const std::uint64_t value = bytes_->number(at, size);
  if (size == 1) return static_cast<std::int8_t>(value);
  return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

FlatTable FlatTable::table(int field) const {
  const std::uint64_t at = place(field);
  return at == 0 ? FlatTable() : FlatTable(*bytes_, follow(at));
}

FlatTable::Vector FlatTable::vector(int field, std::size_t size) const {
  const std::uint64_t at = place(field);
  if (at == 0) return {};
  const std::uint64_t start = follow(at), count = bytes_->number(start, 4);
  if (start + 4 > bytes_->data.size() || count > (bytes_->data.size() - start - 4) / size) {
    bytes_->damaged = true;
    return {};
  }
  return {start + 4, count, true};
}

FlatTable FlatTable::element(const Vector& vector, std::uint64_t index) const {
  if (index >= vector.count) {
    bytes_->damaged = true;
    return {};
  }
  return {*bytes_, follow(vector.at + 4 * index)};
}

std::string FlatTable::text(int field) const {
  const Vector letters = vector(field, 1);
  if (letters.count > kMaxText) {
    bytes_->damaged = true;
    return {};
  }
  return std::string(bytes_ == nullptr
                         ? std::string_view()
                         : bytes_->data.substr(static_cast<std::size_t>(letters.at), static_cast<std::size_t>(letters.count)));
}

std::optional<std::vector<std::int64_t>> FlatTable::integers(int field, std::uint64_t limit) const {
  const Vector held = vector(field, 4);
  if (!held.present) return std::nullopt;
  if (held.count > limit) {
    bytes_->damaged = true;
    return std::nullopt;
  }
  std::vector<std::int64_t> out;
  for (std::uint64_t index = 0; index < held.count; ++index)
    out.push_back(static_cast<std::int32_t>(bytes_->number(held.at + 4 * index, 4)));
  return out;
}

}  // namespace aaco::graph::tflite
