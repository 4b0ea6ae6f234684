#include "importers/stream/trace_events.h"

#include <gtest/gtest.h>

#include "importers/stream/source_testing.h"

namespace aaco::importers {
namespace {

struct Read {
  std::vector<std::string> names;
  std::vector<std::string> times;
  std::vector<std::string> arguments;
  DocumentEnd end;
  std::optional<core::Error> error;
};

Read read(std::string text, std::size_t step = SIZE_MAX, const ReadLimits& limits = {}) {
  TextSource source(std::move(text), step);
  Read result;
  auto end = read_trace_events(
      source,
      [&](std::span<const TraceEvent> batch) -> core::Status {
        for (const TraceEvent& event : batch) {
          result.names.emplace_back(event.name);
          result.times.emplace_back(event.timestamp);
          result.arguments.emplace_back(event.args);
        }
        return {};
      },
      limits);
  if (end)
    result.end = std::move(*end);
  else
    result.error = end.error();
  return result;
}

using Names = std::vector<std::string>;

TEST(TraceEvents, ReadsAnArray) {
  const Read got = read(R"([{"name":"a","ts":1.5},{"name":"b","ts":"2"}])");
  EXPECT_EQ(got.names, (Names{"a", "b"}));
  EXPECT_EQ(got.times, (Names{"1.5", "2"}));
  EXPECT_TRUE(got.end.complete);
}

TEST(TraceEvents, ReadsObjectWithOtherMembers) {
  const Read got = read(R"({"schemaVersion": 1, "traceEvents": [ {"name":"a"} ], "distributedInfo": {"rank": 3}})");
  EXPECT_EQ(got.names, Names{"a"});
  ASSERT_EQ(got.end.members.size(), 2U);
  EXPECT_EQ(got.end.members[0].second, "1");
  EXPECT_EQ(got.end.members[1].second, R"({"rank": 3})");
  EXPECT_TRUE(got.end.complete);
}

TEST(TraceEvents, StringsMayHoldAnything) {
  const Read got = read(R"([{"name":"a\"]}{[,:","args":{"x":"]}\\","y":[{"z":"\""}]}},{"name":"b"}])");
  EXPECT_EQ(got.names, (Names{R"(a\"]}{[,:)", "b"}));
  EXPECT_EQ(got.arguments[0], R"({"x":"]}\\","y":[{"z":"\""}]})");
}

TEST(TraceEvents, TheLastOfADuplicateCounts) { EXPECT_EQ(read(R"([{"name":"a","name":"b"}])").names, Names{"b"}); }

TEST(TraceEvents, AcceptsTrailingComma) { EXPECT_TRUE(read(R"([{"name":"a"},])").end.complete); }

TEST(TraceEvents, AcceptsByteOrderMark) { EXPECT_EQ(read("\xEF\xBB\xBF[{\"name\":\"a\"}]").names, Names{"a"}); }

TEST(TraceEvents, AnEmptyArrayIsComplete) {
  EXPECT_TRUE(read("[]").end.complete);
  EXPECT_TRUE(read(R"({"traceEvents":[]})").end.has_events);
  EXPECT_FALSE(read(R"({"nodes":[]})").end.has_events);
}

std::string many(int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ",\n" : "") + std::string(R"({"ph":"X","name":"k)") + std::to_string(i) + R"(","ts":)" + std::to_string(i) +
            R"(,"args":{"a":[1,2,{"b":"c"}]}})";
  return text + "]";
}

TEST(TraceEvents, ResultIndependentOfWindowSize) {
  const Read whole = read(many(2000));
  for (std::size_t window : {64U, 100U, 1000U, 65536U}) {
    const Read got = read(many(2000), 777, {.window_bytes = window});
    EXPECT_EQ(got.names, whole.names) << window;
    EXPECT_EQ(got.arguments, whole.arguments) << window;
    EXPECT_TRUE(got.end.complete);
  }
}

TEST(TraceEvents, TruncationKeepsEveryCompleteEvent) {
  const std::string text = R"({"a":1,"traceEvents":[{"name":"x","args":{"q":"\""}},{"name":"y"}],"b":2})";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const Read got = read(text.substr(0, cut));
    ASSERT_FALSE(got.error) << cut;
    EXPECT_FALSE(got.end.complete) << cut;
    EXPECT_FALSE(got.end.trouble.empty());
    const auto whole = static_cast<std::size_t>(cut >= text.find("\"}},{") + 3) + (cut >= text.find("\"y\"}") + 4 ? 1 : 0);
    EXPECT_EQ(got.names.size(), whole) << cut;
  }
}

TEST(TraceEvents, CountsMalformedElements) {
  const Read got = read(R"([1, null, "x", [2], {"name" 5}, {5:6}, {"name":"a"}, {"name":}])");
  EXPECT_EQ(got.names, Names{"a"});
  EXPECT_EQ(got.end.malformed, 7);
  EXPECT_TRUE(got.end.complete);
}

TEST(TraceEvents, StopsAtInvalidJson) {
  const Read got = read(R"([{"name":"a"} } {"name":"b"}])");
  EXPECT_EQ(got.names, Names{"a"});
  EXPECT_FALSE(got.end.complete);
  EXPECT_FALSE(read(R"({"traceEvents":[{"name":"a"}] oops})").end.complete);
  EXPECT_FALSE(read(R"({"a"})").end.complete);
  EXPECT_FALSE(read(R"({"a":})").end.complete);
}

TEST(TraceEvents, CountsTrailingBytes) {
  EXPECT_EQ(read("[{\"name\":\"a\"}] \n").end.trailing, 0);
  EXPECT_EQ(read(R"([{"name":"a"}] [{}])").end.trailing, 4);
  EXPECT_EQ(read(R"({"traceEvents":[{"name":"a"}]} )" + std::string(200'000, 'x'), 100, {.window_bytes = 64}).end.trailing,
            200'000);
}

TEST(TraceEvents, DeepNestingDoesNotOverflow) {
  const int depth = 1'000'000;
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  const Read got = read(R"([{"name":"a","args":)" + nested + R"(},{"name":"b"}])");
  EXPECT_EQ(got.names, (Names{"a", "b"}));
}

TEST(TraceEvents, AGiganticNumberStaysAToken) {
  const std::string digits(100'000, '9');
  EXPECT_EQ(read(R"([{"ts":)" + digits + "}]").times[0].size(), digits.size());
}

TEST(TraceEvents, StopsAtOversizedValue) {
  const Read got = read(R"([{"name":"a"},{"name":")" + std::string(100'000, 'x') + R"("}])", SIZE_MAX,
                        {.window_bytes = 1024, .value_bytes = 16384});
  EXPECT_EQ(got.names, Names{"a"});
  EXPECT_NE(got.end.trouble.find("larger than"), std::string::npos);
}

TEST(TraceEvents, RefusesNonTraces) {
  EXPECT_EQ(read("").error->code, core::ErrorCode::invalid_input);
  EXPECT_EQ(read("hello").error->code, core::ErrorCode::invalid_input);
  EXPECT_EQ(read(std::string(1000, '\0')).error->code, core::ErrorCode::invalid_input);
  EXPECT_FALSE(read("   ").end.complete);
}

TEST(TraceEvents, StopsOnVisitorError) {
  TextSource source(many(2000));
  const auto end = read_trace_events(
      source, [](std::span<const TraceEvent>) -> core::Status { return core::fail(core::ErrorCode::io, "disk full"); },
      {.window_bytes = 1024});
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().message, "disk full");
}

}  // namespace
}  // namespace aaco::importers
