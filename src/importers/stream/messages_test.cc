#include "importers/stream/messages.h"

#include <gtest/gtest.h>

#include "formats/protobuf_testing.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers {
namespace {

using formats::protobuf::bytes;
using formats::protobuf::number;

struct Seen {
  std::string fields;
  MessagesEnd end;
};
Seen read(const std::string& text, std::size_t step = SIZE_MAX, std::size_t max_bytes = 100) {
  Seen seen;
  TextSource source(text, step);
  auto end = read_messages(source, max_bytes, [&](const formats::protobuf::Field& field, bool cut) -> core::Status {
    seen.fields +=
        std::to_string(field.number) + ":" + std::string(field.bytes) + std::to_string(field.value) + (cut ? "!" : " ");
    return {};
  });
  EXPECT_TRUE(end.has_value());
  if (end) seen.end = *end;
  return seen;
}

TEST(ReadMessages, FieldsInOrderInAnyPieces) {
  const std::string text = number(1, 300) + bytes(2, "abc") + formats::protobuf::fixed64(3, 9) + bytes(4, "");
  for (const std::size_t step : {1U, 2U, 7U, 1000U}) {
    const Seen seen = read(text, step);
    EXPECT_EQ(seen.fields, "1:300 2:abc0 3:9 4:0 ");
    EXPECT_TRUE(seen.end.complete);
    EXPECT_EQ(seen.end.bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(seen.end.fields, 4);
  }
}
TEST(ReadMessages, OversizedFieldsAreSkipped) {
  const Seen seen = read(bytes(1, std::string(101, 'x')) + bytes(2, "abc"));
  EXPECT_EQ(seen.fields, "2:abc0 ");
  EXPECT_EQ(seen.end.oversized, 1);
  EXPECT_TRUE(seen.end.complete);
}
TEST(ReadMessages, ACutFieldIsHandedOutAsSuch) {
  const Seen seen = read(bytes(1, "abc").substr(0, 4));
  EXPECT_EQ(seen.fields, "1:ab0!");
  EXPECT_FALSE(seen.end.complete);
}
TEST(ReadMessages, HugeLengthsEndTheReading) {
  for (const std::size_t step : {1U, 1000U}) {
    const Seen seen = read(bytes(2, "abc") + "\x0A" + formats::protobuf::varint(UINT64_MAX) + "abc", step);
    EXPECT_EQ(seen.fields, "2:abc0 ");
    EXPECT_FALSE(seen.end.complete);
  }
}
TEST(ReadMessages, InvalidFieldsEndTheReading) {
  EXPECT_FALSE(read(std::string(30, '\xFF')).end.complete);
  EXPECT_FALSE(read(bytes(2, "abc") + "\x0B" + std::string(30, 'x')).end.complete);
  EXPECT_FALSE(read(std::string(1, '\0') + std::string(30, 'x')).end.complete);
}
TEST(ReadMessages, EmptyIsComplete) { EXPECT_TRUE(read("").end.complete); }
TEST(ReadMessages, EveryTruncationKeepsTheFieldsBefore) {
  const std::string text = bytes(2, "abc") + bytes(3, "defg");
  for (std::size_t size = 5; size < text.size(); ++size)
    EXPECT_TRUE(read(text.substr(0, size)).fields.starts_with("2:abc0 ")) << size;
}

}  // namespace
}  // namespace aaco::importers
