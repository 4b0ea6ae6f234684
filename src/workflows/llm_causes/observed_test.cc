#include "workflows/llm_causes/observed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analytics/llm.h"
#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

using core::ClockId;
using core::Json;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr std::int64_t kReal = 1'700'000'000 * kSecond;  // real time less monotonic time of the client's machine

// `gain`: by how much the monotonic clock runs ahead of real time.
std::int64_t monotonic_at(std::int64_t at_ns, std::int64_t boot_ns, double gain) {
  return at_ns - boot_ns + std::llround(gain * static_cast<double>(at_ns));
}
trace::ClockGraph clocks(std::int64_t boot_ns, std::int64_t uncertainty_ns, double gain = 0) {
  trace::ClockGraph graph;
  for (const std::int64_t at : {std::int64_t{0}, 1000 * kSecond})
    graph.add({{ClockId::realtime, kReal + at}, {ClockId::monotonic, monotonic_at(at, boot_ns, gain)}, uncertainty_ns});
  return graph;
}
Json environment(const std::string& host, bool synchronised, std::int64_t error_ns) {
  return Json::object({{"os", Json::object({{"host", host}})},
                       {"time_sync", Json::object({{"synchronised", synchronised}, {"max_error_ns", error_ns}})}});
}

// A load from 100 to 110 s of the client's clock, and recordings of a machine whose clock began `boot_ns` later.
class ObservedTest : public testing::Test {
 protected:
  std::string recording(std::int64_t boot_ns, const std::string& host, bool synchronised, std::int64_t from_ns,
                        std::int64_t to_ns, const std::string& kind = "record") {
    auto draft = SessionDraft::begin(kind, "", Json(), lake_.services).value();
    const auto there = [&](std::int64_t at_ns) { return monotonic_at(at_ns, boot_ns, gain_); };
    draft.phase("record", there(from_ns), there(to_ns));
    for (std::int64_t time = from_ns; time < to_ns; time += kSecond) {
      trace::SystemEventRow row{.time_ns = there(time), .metric = draft.sink().name("process.run_queue_wait_ratio")};
      row.value = static_cast<double>(time);
      draft.sink().add(row);
    }
    EXPECT_TRUE(draft.writer().write_json("env.json", environment(host, synchronised, 3 * kMs)));
    const std::string path = draft.finish({}, false).value().path;
    const std::string file = core::join_path(path, "session.json");
    Json document = core::read_json_file(file).value();
    document.set("clocks", to_json(clocks(boot_ns, 400, gain_)));
    EXPECT_TRUE(core::write_file_atomic(file, document.dump()));
    return path;
  }
  core::Result<ObservedServer> read(const std::string& path, bool synchronised = true) {
    const std::string env = lake_.file("env.json", environment("client", synchronised, 2 * kMs).dump());
    return read_observed(path, {clocks_, env, 100 * kSecond, 110 * kSecond}, names_);
  }
  Lake lake_;
  trace::ClockGraph clocks_ = clocks(0, 600);
  trace::NameTable names_;
  double gain_ = 0;  // of the recording's machine
};

TEST_F(ObservedTest, AnotherMachineIsJoinedByItsClockPairs) {
  const auto observed = read(recording(40 * kSecond, "server", true, 95 * kSecond, 115 * kSecond));
  ASSERT_TRUE(observed) << observed.error().text();
  EXPECT_FALSE(observed->same_clock);
  EXPECT_EQ(observed->clock_error_ns, 1000 + 5 * kMs);  // reading both clocks, and what both kernels state
  EXPECT_EQ(observed->covered_ratio, 1);
  ASSERT_EQ(observed->events.size(), 11U);  // of the load only
  for (const auto& row : observed->events) {
    EXPECT_EQ(row.time_ns, static_cast<std::int64_t>(row.value));
    EXPECT_EQ(row.rank, analytics::llm::kObservedRank);
  }
}
// 20 ppm over 100 s are 2 ms: an offset read once would be wrong by that.
TEST_F(ObservedTest, DriftBetweenTheMachinesIsFollowed) {
  for (const double gain : {20e-6, -50e-6}) {
    gain_ = gain;
    const auto observed = read(recording(-4000 * kSecond, "server", true, 95 * kSecond, 115 * kSecond));
    ASSERT_TRUE(observed) << observed.error().text();
    EXPECT_EQ(observed->covered_ratio, 1);
    ASSERT_EQ(observed->events.size(), 11U);
    for (const auto& row : observed->events) EXPECT_NEAR(static_cast<double>(row.time_ns), row.value, 1000);
  }
}
// Containers of one image may all have the same host name.
TEST_F(ObservedTest, AHostOfTheSameNameAndAnotherClockIsAnotherMachine) {
  const auto observed = read(recording(40 * kSecond, "client", true, 95 * kSecond, 115 * kSecond));
  ASSERT_TRUE(observed) << observed.error().text();
  EXPECT_FALSE(observed->same_clock);
  EXPECT_EQ(observed->events.size(), 11U);
}
TEST_F(ObservedTest, OneMachineHasOneClock) {
  const auto observed = read(recording(0, "client", false, 95 * kSecond, 115 * kSecond));
  ASSERT_TRUE(observed);
  EXPECT_TRUE(observed->same_clock && observed->synchronised);
  EXPECT_EQ(observed->clock_error_ns, 0);
}
TEST_F(ObservedTest, ClocksThatAreNotSynchronisedAreReported) {
  EXPECT_FALSE(read(recording(40 * kSecond, "server", false, 95 * kSecond, 115 * kSecond))->synchronised);
  EXPECT_FALSE(read(recording(40 * kSecond, "server", true, 95 * kSecond, 115 * kSecond), false)->synchronised);
}
TEST_F(ObservedTest, HalfARecordingCoversHalf) {
  EXPECT_EQ(read(recording(0, "client", true, 105 * kSecond, 120 * kSecond))->covered_ratio, 0.5);
}
TEST_F(ObservedTest, RefusesARecordingBefore) {
  const auto observed = read(recording(0, "client", true, 50 * kSecond, 60 * kSecond));
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error().message, HasSubstr("ended 40.0 s before it"));
}
TEST_F(ObservedTest, RefusesARecordingAfter) {
  const auto observed = read(recording(0, "client", true, 150 * kSecond, 160 * kSecond));
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error().message, HasSubstr("began 40.0 s after it"));
}
TEST_F(ObservedTest, RefusesARun) {
  EXPECT_THAT(read(recording(0, "client", true, 100 * kSecond, 110 * kSecond, "run")).error().message,
              HasSubstr("not a recording"));
}
TEST_F(ObservedTest, RefusesAMissingSession) { EXPECT_FALSE(read("/nonexistent")); }

}  // namespace
}  // namespace aaco::workflows
