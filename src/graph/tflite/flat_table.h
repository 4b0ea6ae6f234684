#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// FlatBuffers as bytes (the format of the FlatBuffers project's "internals" page): a table has a signed offset back to its
// vtable, which has the place of each field; vectors and strings carry their length in front. Every offset is checked.
namespace aaco::graph::tflite {

// The bytes, and whether one of the offsets led out of them. What cannot be read reads as absent.
struct FlatBytes {
  std::string_view data;
  bool damaged = false;

  // A little-endian number; 0 and damage out of range.
  std::uint64_t number(std::uint64_t at, std::size_t size);
};

class FlatTable {
 public:
  FlatTable() = default;
  // The table at `at`.
  FlatTable(FlatBytes& bytes, std::uint64_t at);
  static FlatTable root(FlatBytes& bytes);

  [[nodiscard]] bool valid() const { return bytes_ != nullptr; }
  // Scalars by the field's number in the schema; `fallback` where the field is not stored.
  [[nodiscard]] std::int64_t signed_number(int field, std::size_t size, std::int64_t fallback) const;
  [[nodiscard]] std::uint64_t unsigned_number(int field, std::size_t size, std::uint64_t fallback) const;
  [[nodiscard]] FlatTable table(int field) const;
  [[nodiscard]] std::string text(int field) const;

  struct Vector {
    std::uint64_t at = 0;  // of the first element
    std::uint64_t count = 0;
    bool present = false;
  };
  // A vector of elements of `size` bytes.
  [[nodiscard]] Vector vector(int field, std::size_t size) const;
  [[nodiscard]] FlatTable element(const Vector& vector, std::uint64_t index) const;  // of a vector of tables
  // A vector of 32-bit integers; empty and damage beyond `limit` elements.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(int field, std::uint64_t limit) const;

 private:
  [[nodiscard]] std::uint64_t place(int field) const;  // 0: not stored
  [[nodiscard]] std::uint64_t follow(std::uint64_t at) const;

  FlatBytes* bytes_ = nullptr;
  std::uint64_t at_ = 0, vtable_ = 0, vtable_bytes_ = 0;
};

}  // namespace aaco::graph::tflite
