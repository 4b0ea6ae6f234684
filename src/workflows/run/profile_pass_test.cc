#include "workflows/run/profile_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "core/clock.h"
#include "core/files.h"

namespace aaco::workflows {
namespace {

constexpr double kNoTime = 0, kForEver = 1e18;

// A runtime whose profile has one node a call, and nothing after a number of records.
class ProfiledBackend final : public runner::Backend {
 public:
  explicit ProfiledBackend(std::int64_t kept = 1'000'000) : kept_(kept) {}
  [[nodiscard]] const std::vector<runner::TensorInfo>& inputs() const override { return none_; }
  [[nodiscard]] const std::vector<runner::TensorInfo>& outputs() const override { return none_; }
  core::Status bind(const std::vector<runner::TensorData>&) override { return {}; }
  core::Status bind_next(std::vector<runner::TensorData>, const std::vector<runner::CarriedValue>&) override { return {}; }
  core::Result<runner::TensorView> view_output(std::string_view) override {
    return core::fail(core::ErrorCode::unsupported, "no outputs");
  }
  core::Status run_once() override {
    record(R"({"cat":"Node","name":"n_kernel_time","ts":2,"dur":5})");
    record(R"({"cat":"Session","name":"model_run","ts":1,"dur":9})");
    ++calls;
    return {};
  }
  core::Result<std::vector<runner::TensorData>> read_outputs() override { return std::vector<runner::TensorData>(); }
  [[nodiscard]] core::Json describe() const override { return {}; }
  core::Result<Profile> end_profile() override {
    const std::string path = core::join_path(testing::TempDir(), "profile_pass_test.json");
    AACO_TRY(core::write_file_atomic(path, "[" + text_ + "]"));
    return Profile{path, core::SystemClock().now_ns(core::ClockId::realtime)};
  }
  std::int64_t calls = 0;

 private:
  void record(const std::string& text) {
    if (records_ < kept_) text_ += (records_ == 0 ? "" : ",") + text;
    ++records_;
  }
  std::vector<runner::TensorInfo> none_;
  std::string text_;
  std::int64_t kept_, records_ = 0;
};

struct Pass {
  core::Result<ProfilePass> result;
  trace::MemorySink sink;
  trace::SessionManifest manifest;
};

Pass pass(ProfiledBackend& backend, ProfileCalls calls, double budget_ns) {
  Pass done;
  done.manifest.clocks.add(trace::read_clock_pair(core::SystemClock(), core::ClockId::realtime));
  done.result = profile_pass(backend, calls, budget_ns, {}, done.sink, done.manifest, Services());
  return done;
}

bool warns(const Pass& of, std::string_view id) {
  for (const auto& warning : of.manifest.warnings)
    if (warning.id == id) return true;
  return false;
}

TEST(ProfilePass, ItsOwnCallsSpendItsTime) {
  ProfiledBackend backend;
  const Pass done = pass(backend, profile_calls(1), kNoTime);
  ASSERT_TRUE(done.result.has_value()) << done.result.error().text();
  EXPECT_EQ(backend.calls, 3 + 5);  // warm-up, and as few as there may be
  EXPECT_EQ(done.result->iterations, 5);
  EXPECT_EQ(done.sink.rows<trace::IterationRow>().size(), 5U);
  EXPECT_FALSE(warns(done, "profile.full"));
}

TEST(ProfilePass, NoMoreCallsThanAreOfUse) {
  ProfiledBackend backend;
  EXPECT_EQ(pass(backend, profile_calls(1), kForEver).result->iterations, 100);
}

TEST(ProfilePass, AHalfRunIsLeftOut) {
  ProfiledBackend backend(11);
  const Pass done = pass(backend, {.warmup = 1, .least = 9, .most = 9}, kNoTime);
  EXPECT_EQ(done.sink.rows<trace::IterationRow>().size(), 4U);
  EXPECT_EQ(done.sink.rows<trace::NodeExecutionRow>().size(), 4U);
  EXPECT_FALSE(warns(done, "profile.records_lost"));
}

TEST(ProfilePass, FullProfilerIsReported) {
  ProfiledBackend backend;
  EXPECT_TRUE(warns(pass(backend, {.warmup = 0, .least = 500'000, .most = 500'000}, kNoTime), "profile.full"));
}

TEST(ProfilePass, CallsAreAsManyAsTheProfilerHolds) {
  const auto total = [](std::size_t nodes) { return profile_calls(nodes).warmup + profile_calls(nodes).most; };
  EXPECT_EQ(total(66), 103);
  EXPECT_EQ(total(20'000), 49);
  EXPECT_EQ(total(199'998), 5);
  EXPECT_EQ(profile_calls(199'998).least, 3);
  EXPECT_EQ(profile_calls(400'000).warmup, 1);
  EXPECT_EQ(profile_calls(400'000).most, 1);
  EXPECT_EQ(profile_calls(5'000'000).warmup, 0);
  EXPECT_EQ(profile_calls(5'000'000).most, 1);  // whatever the profiler holds of it
}

}  // namespace
}  // namespace aaco::workflows
