#include "serving/event_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aaco::serving {
namespace {

// "event|data" of each event when the stream comes in pieces of `size` bytes.
std::vector<std::string> events_of(std::string_view text, std::size_t size = 1000) {
  EventStream stream;
  std::vector<std::string> events;
  for (std::size_t at = 0; at < text.size(); at += size) {
    const auto status = stream.feed(text.substr(at, size), [&](std::string_view event, std::string_view data) {
      events.push_back(std::string(event) + "|" + std::string(data));
    });
    EXPECT_TRUE(status);
  }
  return events;
}
using Events = std::vector<std::string>;

TEST(EventStream, SplitsEventsAtBlankLines) { EXPECT_EQ(events_of("data: a\n\ndata: b\n\n"), (Events{"|a", "|b"})); }
TEST(EventStream, ReadsCrLf) { EXPECT_EQ(events_of("data: a\r\n\r\ndata: b\r\n\r\n"), (Events{"|a", "|b"})); }
TEST(EventStream, ReadsCr) { EXPECT_EQ(events_of("data: a\r\rdata: b\r\r"), (Events{"|a", "|b"})); }
TEST(EventStream, SkipsComments) { EXPECT_EQ(events_of(": ping\n\n: ping\n\ndata: a\n\n"), (Events{"|a"})); }
TEST(EventStream, ErrorFieldIsAnErrorEvent) { EXPECT_EQ(events_of("error: {}\n\ndata: a\n\n"), (Events{"error|{}", "|a"})); }
TEST(EventStream, CountsComments) {
  EventStream stream;
  ASSERT_TRUE(stream.feed(": a\n:b\n", [](auto, auto) {}));
  EXPECT_EQ(stream.comments(), 2);
}
TEST(EventStream, JoinsDataLines) { EXPECT_EQ(events_of("data: a\ndata: b\n\n"), (Events{"|a\nb"})); }
TEST(EventStream, KeepsEventNames) { EXPECT_EQ(events_of("event: error\ndata: x\n\ndata: y\n\n"), (Events{"error|x", "|y"})); }
TEST(EventStream, EventWithoutDataIsNotDispatched) { EXPECT_EQ(events_of("event: ping\n\nid: 3\n\n"), Events{}); }
TEST(EventStream, SpaceAfterColonIsOptional) { EXPECT_EQ(events_of("data:a\n\ndata:  b\n\n"), (Events{"|a", "| b"})); }
TEST(EventStream, FieldWithoutColonHasEmptyValue) { EXPECT_EQ(events_of("data\n\n"), (Events{"|"})); }
TEST(EventStream, SkipsByteOrderMark) {
  EXPECT_EQ(events_of("\xef\xbb\xbf"
                      "data: a\n\n"),
            (Events{"|a"}));
}
TEST(EventStream, IgnoresIdAndRetry) { EXPECT_EQ(events_of("id: 1\nretry: 5\ndata: a\n\n"), (Events{"|a"})); }
TEST(EventStream, UnfinishedEventIsIncomplete) {
  EventStream stream;
  ASSERT_TRUE(stream.feed("data: a\n", [](auto, auto) { FAIL(); }));
  EXPECT_TRUE(stream.incomplete());
}
TEST(EventStream, FinishedStreamIsComplete) {
  EventStream stream;
  ASSERT_TRUE(stream.feed("data: a\n\n", [](auto, auto) {}));
  EXPECT_FALSE(stream.incomplete());
}
TEST(EventStream, RefusesOversizedLine) {
  EventStream stream;
  EXPECT_FALSE(stream.feed(std::string(kMaxEventBytes + 1, 'x'), [](auto, auto) {}));
}
TEST(EventStream, RefusesOversizedEventOfManyLines) {
  EventStream stream;
  const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
  bool refused = false;
  for (int i = 0; i < 20 && !refused; ++i) refused = !stream.feed(line, [](auto, auto) {});
  EXPECT_TRUE(refused);
}

class Cut : public testing::TestWithParam<std::size_t> {};
TEST_P(Cut, ChangesNothing) {
  const std::string text =
      "\xef\xbb\xbf"
      ": hi\r\nevent: e\r\ndata: one\r\ndata: two\r\n\r\ndata: 3\n\ndata: four\r\rdata: \xc3\xa4\n\n";
  EXPECT_EQ(events_of(text, GetParam()), events_of(text));
}
INSTANTIATE_TEST_SUITE_P(Pieces, Cut, testing::Values(3, 4, 5, 7, 11, 13));

TEST(EventStream, UnfinishedEvent) {
  for (const char* const text : {"data: a\n\ndata: [DONE]", "data: a\n\ndata: [DONE]\n"}) {
    EventStream stream;
    ASSERT_TRUE(stream.feed(text, [](std::string_view, std::string_view) {}));
    EXPECT_EQ(stream.unfinished(), "[DONE]");
  }
  EventStream whole;
  ASSERT_TRUE(whole.feed("data: a\n\n", [](std::string_view, std::string_view) {}));
  EXPECT_EQ(whole.unfinished(), "");
}

}  // namespace
}  // namespace aaco::serving
