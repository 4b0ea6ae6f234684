#pragma once

#include <cstdint>
#include <string_view>

namespace aaco::tracelake::store {

// Thrift's compact protocol (thrift.apache.org, "Thrift compact protocol"), read in place: what a Parquet footer is written in.
// Bytes are input: every length is checked against what is there; after the first damage everything reads as the end.
class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12
  };
  struct Field {
    std::int32_t id = 0;
    Type type = Type::stop;
  };
  struct List {
    std::uint64_t size = 0;
    Type type = Type::stop;
  };

  explicit ThriftReader(std::string_view text) : text_(text) {}
  // The next field's head; `field` has the one before it in the structure. False at the structure's end.
  bool next(Field& field);
  List list();
  std::int64_t integer();  // of i16, i32 and i64
  std::string_view binary();
  void skip(Type type) { skip(type, 0); }
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::size_t at() const { return at_; }  // bytes read

 private:
  static constexpr int kMaxDepth = 16;
  std::uint64_t varint();
  void skip(Type type, int depth);
  void damage();

  std::string_view text_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace aaco::tracelake::store
