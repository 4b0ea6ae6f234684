#include "workflows/timeline_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "workflows/timeline_levels.h"

namespace aaco::workflows {
namespace {

using analytics::levels::Kind;
using analytics::levels::Plan;
using ::testing::HasSubstr;

// A host thread that launches short kernels in nested operators, with one long kernel and a frame around all of it.
class TimelineWindowTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kKernels = 30'000;
  static constexpr std::int64_t kStepNs = 10'000;
  static constexpr std::int64_t kEndNs = kKernels * kStepNs;
  static constexpr std::int64_t kLongStartNs = 5'000 * kStepNs;

  void SetUp() override {
    of_.id.text = "20261121T081530Z-3f9a1c";
    of_.kind = "import";
    of_.created_realtime_ns = 1'795'248'930'000'000'000;
    of_.phases = {{"trace", 0, kEndNs}};
    auto created = tracelake::BundleWriter::create(root_, of_);
    ASSERT_TRUE(created) << created.error().text();
    auto writer = std::move(*created);
    trace::Sink& sink = writer->sink();
    add_host(sink);
    add_device(sink);
    ASSERT_TRUE(writer->flush());
    plan_ = analytics::levels::plan_levels(3 * kKernels, kEndNs);
    ASSERT_TRUE(store_levels(writer->path(), plan_, sink, [] { return core::Status(); }));
    of_.outcome.rows = core::Json::object({{"timeline", plan_json(plan_)}});
    auto closed = writer->close(of_);
    ASSERT_TRUE(closed) << closed.error().text();
    path_ = *closed;
    of_ = *tracelake::read_manifest(path_);
  }

  static void add_host(trace::Sink& sink) {
    trace::ApiCallRow row;
    row.process_id = 7, row.thread_id = 8;
    row.domain = sink.name("python"), row.name = sink.name("main"), row.end_ns = kEndNs;
    sink.add(row);
    for (std::int64_t i = 0; i < kKernels; ++i) {
      row.start_ns = i * kStepNs, row.end_ns = row.start_ns + 4'000, row.correlation_id = 0;
      row.domain = sink.name("cpu_op"), row.name = sink.name("aten::mm"), row.arguments = sink.name("[2,3]");
      sink.add(row);
      row.start_ns += 1'000, row.end_ns = row.start_ns + 2'000, row.correlation_id = static_cast<std::uint64_t>(i) + 1;
      row.domain = sink.name("hip"), row.name = sink.name("hipLaunchKernel"), row.arguments = {};
      sink.add(row);
    }
  }
  static void add_device(trace::Sink& sink) {
    trace::KernelRow row;
    row.stream = 3;
    for (std::int64_t i = 0; i < kKernels; ++i) {
      row.start_ns = i * kStepNs + 5'000, row.end_ns = row.start_ns + 3'000;
      row.name = sink.name(i % 2 == 0 ? "gemm" : "relu"), row.correlation_id = static_cast<std::uint64_t>(i) + 1;
      row.grid_x = 4, row.block_x = 256;
      sink.add(row);
    }
    row.stream = 4, row.start_ns = kLongStartNs, row.end_ns = kLongStartNs + 100'000'000, row.name = sink.name("attention");
    sink.add(row);
  }

  [[nodiscard]] TimelineWindow window(std::int64_t from, std::int64_t to, std::int64_t pixels = 1000,
                                      std::size_t rows = 4000) const {
    auto window = timeline_window(path_, of_, {from, to, pixels, rows});
    EXPECT_TRUE(window) << window.error().text();
    return window ? *std::move(window) : TimelineWindow{};
  }
  static std::int64_t events(const TimelineWindow& window, Kind kind) {
    std::int64_t sum = 0;
    for (const auto& track : window.tracks)
      if (track.track.kind == kind)
        for (const auto& row : track.rows) sum += row.event_count;
    return sum;
  }
  static const TimelineTrack* find(const TimelineWindow& window, Kind kind, std::int64_t lane) {
    for (const auto& track : window.tracks)
      if (track.track.kind == kind && track.track.lane == lane) return &track;
    return nullptr;
  }

  core::TemporaryDirectory folder_ = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-timeline");
  std::string root_ = core::join_path(folder_.path(), "sessions");
  trace::SessionManifest of_;
  Plan plan_;
  std::string path_;
};

TEST_F(TimelineWindowTest, TheWholeTraceComesFromALevelAndHasAllEvents) {
  const auto whole = window(0, kEndNs);
  EXPECT_GT(whole.resolution_ns, 0);
  EXPECT_EQ(events(whole, Kind::kernel), kKernels + 1);
  EXPECT_EQ(events(whole, Kind::launch), kKernels);
  EXPECT_EQ(events(whole, Kind::operators), kKernels);
}
TEST_F(TimelineWindowTest, RowsPerTrackAreBounded) {
  for (const std::size_t limit : {100U, 1000U})
    for (const auto& track : window(0, kEndNs, 100'000, limit).tracks) EXPECT_LE(track.rows.size(), limit);
  EXPECT_EQ(events(window(0, kEndNs, 100'000, 100), Kind::kernel), kKernels + 1);
}
TEST_F(TimelineWindowTest, AShortWindowHasEveryEvent) {
  const auto part = window(20'000 * kStepNs, 20'010 * kStepNs - 1);
  EXPECT_EQ(part.resolution_ns, 0);
  const auto* stream = find(part, Kind::kernel, 3);
  ASSERT_NE(stream, nullptr);
  ASSERT_EQ(stream->rows.size(), 10U);
  EXPECT_EQ(part.names->text(stream->rows[0].name), "gemm");
  EXPECT_EQ(stream->rows[0].correlation_id, 20'001U);
  EXPECT_EQ(part.names->text(stream->rows[0].detail), "grid 4 x 1 x 1, block 256 x 1 x 1");
}
TEST_F(TimelineWindowTest, AShortWindowHasTheLongEventsThatBeganBefore) {
  const auto part = window(kLongStartNs + 50'000'000, kLongStartNs + 50'100'000);
  const auto* stream = find(part, Kind::kernel, 4);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->rows[0].start_ns, kLongStartNs);
  const auto* frames = find(part, Kind::python, 8);
  ASSERT_NE(frames, nullptr);
  EXPECT_EQ(part.names->text(frames->rows[0].name), "main");
}
TEST_F(TimelineWindowTest, AnEmptyRangeIsRefused) {
  EXPECT_FALSE(timeline_window(path_, of_, {10, 10, 100}));
  EXPECT_FALSE(timeline_window(path_, of_, {0, 10, 0}));
}
TEST_F(TimelineWindowTest, OutsideTheTraceYieldsNoRows) { EXPECT_EQ(window(2 * kEndNs, 3 * kEndNs).row_count(), 0U); }
TEST_F(TimelineWindowTest, WithoutLevelsTheEventsAreRead) {
  of_.outcome.rows = {};
  EXPECT_EQ(events(window(0, kEndNs), Kind::kernel), kKernels + 1);
}
TEST_F(TimelineWindowTest, ANestedCallIsBelowItsParent) {
  std::map<Kind, std::int64_t> depth;
  for (const auto& track : window(20'000 * kStepNs, 20'010 * kStepNs).tracks)
    depth[track.track.kind] = std::max(depth[track.track.kind], track.track.depth);
  EXPECT_EQ(depth[Kind::operators], 0);
  EXPECT_EQ(depth[Kind::launch], 0);
}

class SessionTimelineTest : public TimelineWindowTest {
 protected:
  [[nodiscard]] core::Result<SessionTimeline> read(const std::string& range) const {
    core::Paths paths;
    paths.sessions = root_;
    return session_timeline("latest", range, 1000, paths);
  }
  [[nodiscard]] std::string refusal(const std::string& range) const {
    const auto timeline = read(range);
    return timeline ? "" : timeline.error().message;
  }
};

TEST_F(SessionTimelineTest, RangesCountFromTheStartOfTheTrace) {
  const auto timeline = read("1ms..2ms");
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_EQ(timeline->window.from_ns, 1'000'000);
  EXPECT_EQ(timeline->window.to_ns, 2'000'000);
}
TEST_F(SessionTimelineTest, AnOpenEndIsThatOfTheTrace) {
  EXPECT_EQ(read("..")->window.to_ns, kEndNs);
  EXPECT_EQ(read("1ms..")->window.from_ns, 1'000'000);
}
TEST_F(SessionTimelineTest, InvalidRangesAreRefused) {
  EXPECT_THAT(refusal("1ms"), HasSubstr("expected FROM..TO"));
  EXPECT_THAT(refusal("1ms..x"), HasSubstr("'x' is not a duration"));
  EXPECT_THAT(refusal("1..2"), HasSubstr("has no unit"));
  EXPECT_THAT(refusal("2ms..1ms"), HasSubstr("TO must be greater than FROM"));
  EXPECT_THAT(refusal("-1ms..1ms"), HasSubstr("not a duration"));
}
TEST_F(SessionTimelineTest, JsonHasTimesRelativeToTheTrace) {
  const auto json = to_json(*read("1ms..1.01ms"));
  EXPECT_EQ(json["from_ns"].as_i64(), 1'000'000);
  EXPECT_EQ(json["resolution_ns"].as_i64(), 0);
  EXPECT_FALSE(json["tracks"].items().empty());
}

}  // namespace
}  // namespace aaco::workflows
