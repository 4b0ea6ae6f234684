#include "formats/protobuf.h"

#include <gtest/gtest.h>

#include "formats/protobuf_testing.h"

namespace aaco::formats::protobuf {
namespace {

// "1=150;2='abc';" and "!" at the end of a damaged message.
std::string shown(std::string_view text) {
  std::string out;
  Message message(text);
  for (Field field; message.next(field);)
    out += std::to_string(field.number) + "=" +
           (field.wire == Wire::bytes ? "'" + std::string(field.bytes) + "'" : std::to_string(field.value)) + ";";
  return out + (message.damaged() ? "!" : "");
}

TEST(Protobuf, VarintsOfTheSpecification) { EXPECT_EQ(shown("\x08\x96\x01"), "1=150;"); }
TEST(Protobuf, EveryWireType) {
  EXPECT_EQ(shown(number(1, 7) + bytes(2, "abc") + fixed64(3, 9) + std::string("\x25\x01\x00\x00\x00", 5)),
            "1=7;2='abc';3=9;4=1;");
}
TEST(Protobuf, LargestValues) {
  EXPECT_EQ(shown(number(536870911, UINT64_MAX)), "536870911=18446744073709551615;");
  EXPECT_EQ(shown(bytes(1, "")), "1='';");
}
TEST(Protobuf, DoublesAndFloats) {
  std::string text = real(1, -2.5);
  Message message(text);
  Field field;
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(field.as_double(), -2.5);
}
TEST(Protobuf, NegativeIntegersAreTenBytes) {
  const std::string text = number(1, static_cast<std::uint64_t>(std::int64_t{-3}));
  Message message(text);
  Field field;
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(field.as_i64(), -3);
}
TEST(Protobuf, EmptyIsWhole) { EXPECT_EQ(shown(""), ""); }
TEST(Protobuf, FieldZeroIsDamage) { EXPECT_EQ(shown(std::string("\x00\x01", 2)), "!"); }
TEST(Protobuf, GroupsAreDamage) { EXPECT_EQ(shown("\x0B\x0C"), "!"); }
TEST(Protobuf, LengthBeyondTheTextIsDamage) {
  EXPECT_EQ(shown(number(1, 7) + "\x12\x05" + "abc"), "1=7;!");
  EXPECT_EQ(shown("\x12" + varint(UINT64_MAX)), "!");
}
TEST(Protobuf, OverlongVarintIsDamage) { EXPECT_EQ(shown("\x08" + std::string(10, '\xFF') + "\x01"), "!"); }
TEST(Protobuf, EveryTruncationIsDamageOrABoundary) {
  const std::string text = number(1, 300) + bytes(2, "abc") + fixed64(3, 9);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut = shown(std::string_view(text).substr(0, size));
    EXPECT_TRUE(cut.ends_with("!") || size == 0 || size == 3 || size == 8) << size << " " << cut;
  }
}

}  // namespace
}  // namespace aaco::formats::protobuf
