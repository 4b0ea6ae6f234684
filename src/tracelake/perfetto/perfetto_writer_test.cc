#include "tracelake/perfetto/perfetto_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/json.h"
#include "tracelake/perfetto/chrome_writer.h"
#include "tracelake/perfetto/decoded_trace_testing.h"
#include "tracelake/perfetto/lanes.h"

namespace aaco::tracelake::perfetto {
namespace {

using ::testing::IsEmpty;

class TimelineWriterTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return core::join_path(directory.path(), "trace"); }
  std::unique_ptr<TimelineWriter> perfetto(const std::vector<ClockReading>& clocks = {}) const {
    return std::move(*make_perfetto_writer(file(), core::ClockId::monotonic, clocks));
  }
  DecodedTrace finish(TimelineWriter& writer) const {
    EXPECT_TRUE(writer.finish());
    return TraceDecoder::decode(*core::read_file(file()));
  }
  static Slice slice(std::int64_t start, std::int64_t end, std::string_view name = "s") { return {start, end, name, "test", {}}; }
  core::TemporaryDirectory directory = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-perfetto");
};

TEST_F(TimelineWriterTest, TracksSlicesAndCounters) {
  auto writer = perfetto();
  const TrackId process = writer->add_track({.kind = TrackInfo::Kind::process, .name = "p", .process_id = 42});
  const TrackId thread =
      writer->add_track({.kind = TrackInfo::Kind::thread, .name = "t", .parent = process, .process_id = 42, .thread_id = 43});
  const TrackId counter =
      writer->add_track({.kind = TrackInfo::Kind::counter, .name = "power", .parent = process, .unit = "watts"});
  const Argument arguments[] = {{"n", std::int64_t{-5}}, {"r", 0.5}, {"t", std::string_view("text")}};
  writer->begin(thread, {100, 200, "outer", "cat", arguments, 7});
  writer->begin(thread, slice(110, 120, "inner"));
  writer->end(thread, 120);
  writer->end(thread, 200);
  writer->counter(counter, 150, 1.25);
  const DecodedTrace trace = finish(*writer);
  EXPECT_THAT(trace.problems, IsEmpty());
  ASSERT_EQ(trace.slices.size(), 2u);
  EXPECT_EQ(trace.slices[0].end_ns, 200);
  EXPECT_EQ(trace.slices[0].category, "cat");
  EXPECT_EQ(trace.slices[0].flows, (std::set<std::uint64_t>{7}));
  EXPECT_EQ(trace.slices[0].arguments.at("n"), "-5");
  EXPECT_EQ(trace.slices[0].arguments.at("t"), "text");
  EXPECT_EQ(trace.slices[1].parent, "outer");
  EXPECT_EQ(trace.tracks.at(thread).thread_id, 43);
  EXPECT_EQ(trace.tracks.at(counter).unit_name, "watts");
  EXPECT_EQ(trace.values[0].value, 1.25);
  EXPECT_EQ(trace.timestamp_clock, 0u);
}

TEST_F(TimelineWriterTest, ClocksAreRelated) {
  auto writer = perfetto({{{core::ClockId::monotonic, 1000}, {core::ClockId::realtime, 5000}, {core::ClockId::gpu, 3}}});
  const DecodedTrace trace = finish(*writer);
  EXPECT_EQ(trace.timestamp_clock, field::kClockMonotonic);
  EXPECT_EQ(trace.clocks.at(0),
            (std::map<std::uint32_t, std::uint64_t>{{field::kClockMonotonic, 1000}, {field::kClockRealtime, 5000}}));
}

TEST_F(TimelineWriterTest, TheCheckerSeesFaults) {
  auto writer = perfetto();
  const TrackId track = writer->add_track({.name = "a", .parent = 99});
  writer->begin(track, slice(100, 200));
  writer->begin(track, slice(50, 60));
  writer->end(track, 60);
  writer->end(77, 60);
  const DecodedTrace trace = finish(*writer);
  EXPECT_THAT(trace.problems, ::testing::UnorderedElementsAre("track a has an unknown parent", "time goes back on a",
                                                              "an event on an unknown track", "a slice of track 1 never ends"));
}

TEST_F(TimelineWriterTest, LanesNestOrSpread) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> times{{0, 100},   {0, 50},    {10, 20},  {40, 60},
                                                                 {100, 110}, {100, 100}, {105, 120}};
  for (const auto overlap : {Lanes::Overlap::nest, Lanes::Overlap::spread}) {
    auto writer = perfetto();
    Lanes lanes(*writer, {.name = "row"}, overlap);
    for (const auto& [start, end] : times) EXPECT_TRUE(lanes.add(slice(start, end)));
    lanes.close();
    const DecodedTrace trace = finish(*writer);
    EXPECT_THAT(trace.problems, IsEmpty());
    ASSERT_EQ(trace.slices.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(trace.slices[i].start_ns, times[i].first);
      EXPECT_EQ(trace.slices[i].end_ns, times[i].second);
    }
    std::vector<std::string> rows;
    for (const auto& each : trace.slices) rows.push_back(trace.track_of(each));
    if (overlap == Lanes::Overlap::nest)
      EXPECT_THAT(rows, ::testing::ElementsAre("row", "row", "row", "row (2)", "row", "row", "row (2)"));
    else
      EXPECT_THAT(rows, ::testing::ElementsAre("row", "row (2)", "row (3)", "row (3)", "row", "row (2)", "row (2)"));
  }
}

TEST_F(TimelineWriterTest, LanesAreBounded) {
  auto writer = perfetto();
  Lanes lanes(*writer, {.name = "row"}, Lanes::Overlap::spread);
  for (std::size_t i = 0; i < Lanes::kMaxLanes; ++i) EXPECT_TRUE(lanes.add(slice(0, 100)));
  EXPECT_FALSE(lanes.add(slice(0, 100)));
  EXPECT_TRUE(lanes.add(slice(100, 200)));
}

TEST_F(TimelineWriterTest, ChromeJson) {
  auto writer = std::move(*make_chrome_writer(file()));
  const TrackId process = writer->add_track({.kind = TrackInfo::Kind::process, .name = "p \"q\"", .process_id = 42});
  const TrackId thread =
      writer->add_track({.kind = TrackInfo::Kind::thread, .name = "t", .parent = process, .process_id = 42, .thread_id = 43});
  const TrackId counter =
      writer->add_track({.kind = TrackInfo::Kind::counter, .name = "power", .parent = process, .unit = "watts"});
  const Argument arguments[] = {{"n", std::int64_t{-5}}};
  writer->begin(thread, {1'700'000'000'123'456'789, 1'700'000'000'123'456'790, "k", "c", arguments, 7, true});
  writer->end(thread, 1'700'000'000'123'456'790);
  writer->counter(counter, 5, 1.5);
  ASSERT_TRUE(writer->finish());
  const std::string text = *core::read_file(file());
  EXPECT_THAT(text, ::testing::HasSubstr("\"ts\":1700000000123456.789,\"dur\":0.001"));
  const auto document = core::Json::parse(text);
  ASSERT_TRUE(document) << document.error().text();
  const auto& events = (*document)["traceEvents"].items();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["args"]["name"].text(), "p \"q\"");
  EXPECT_EQ(events[2]["args"]["n"].as_i64(), -5);
  EXPECT_EQ(events[3]["ph"].text(), "f");
  EXPECT_EQ(events[4]["args"]["value"].as_f64(), 1.5);
}

TEST_F(TimelineWriterTest, FileAppearsWhenWholeOnly) {
  { auto writer = perfetto(); }
  EXPECT_TRUE(core::list_directory(directory.path())->empty());
  EXPECT_EQ(make_perfetto_writer("/nowhere/x", core::ClockId::monotonic, {}).error().code, core::ErrorCode::not_found);
}

}  // namespace
}  // namespace aaco::tracelake::perfetto
