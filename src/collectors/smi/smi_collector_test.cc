#include "collectors/smi/smi_collector.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/fake_machine.h"

namespace aaco::collectors::smi {
namespace {

constexpr std::string_view kAnswer =
    R"([{"gpu":0,"usage":{"gfx_activity":{"value":50,"unit":"%"}},"power":{"socket_power":{"value":248,"unit":"W"}},"temperature":{"hotspot":"N/A"}}])";

// Its time passes only when told.
struct StillClock final : core::Clock {
  explicit StillClock(std::int64_t& now) : now_ns_ref(now) {}
  [[nodiscard]] std::int64_t now_ns(core::ClockId) const override { return now_ns_ref; }
  void sleep_until(std::int64_t) const override {}
  std::int64_t& now_ns_ref;
};

class SmiCollectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  void tool(const std::string& name, const std::string& script) {
    const std::string path = core::join_path(folder_->path(), name);
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::unique_ptr<Collector> collector() {
    Options options;
    options.path_variable = folder_->path();
    return make_collector(options, std::make_unique<StillClock>(now_));
  }
  // Samples until there are rows, or the collector has lost something.
  static void sample_until_answered(Collector& collector, trace::MemorySink& sink) {
    const std::int64_t lost = collector.account().dropped_total();
    for (int i = 0; i < 2000; ++i) {
      collector.sample(sink);
      if (!sink.rows<trace::GpuEventRow>().empty() || collector.account().dropped_total() > lost) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no answer";
  }
  std::optional<core::TemporaryDirectory> folder_;
  std::int64_t now_ = 1'000'000'000;
};

TEST_F(SmiCollectorTest, ReadsToolOutput) {
  tool("amd-smi", "echo \"$@\" > \"$0.arguments\"\ncat <<'END'\n" + std::string(kAnswer) + "\nEND\n");
  tool("rocm-smi", "exit 7\n");
  const auto smi = collector();
  ASSERT_TRUE(smi->open({folder_->path()}, {}).has_value());
  trace::MemorySink sink;
  sample_until_answered(*smi, sink);
  const auto& rows = sink.rows<trace::GpuEventRow>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(sink.text(rows[0].metric), "gpu.use_ratio");
  EXPECT_EQ(rows[0].value, 0.5);
  EXPECT_EQ(sink.text(rows[1].source), "amd-smi");
  EXPECT_EQ(rows[1].time_ns, 1'000'000'000);
  EXPECT_EQ(smi->account().dropped.at("reported as N/A"), 1);
  EXPECT_EQ(*core::read_file(core::join_path(folder_->path(), "amd-smi.arguments")), "metric --json\n");
}

TEST_F(SmiCollectorTest, QueriesAtMostOncePerSecond) {
  tool("amd-smi", "echo x >> \"$0.calls\"\ncat <<'END'\n" + std::string(kAnswer) + "\nEND\n");
  const auto smi = collector();
  ASSERT_TRUE(smi->open({folder_->path()}, {}).has_value());
  trace::MemorySink sink;
  sample_until_answered(*smi, sink);
  now_ += 999'999'999;
  for (int i = 0; i < 100; ++i) smi->sample(sink);
  EXPECT_EQ(*core::file_size(core::join_path(folder_->path(), "amd-smi.calls")), 2);
  now_ += 1;
  trace::MemorySink second;
  sample_until_answered(*smi, second);
  EXPECT_EQ(*core::file_size(core::join_path(folder_->path(), "amd-smi.calls")), 4);
}

TEST_F(SmiCollectorTest, FallsBackToRocmSmi) {
  tool("rocm-smi", "echo '{\"card0\": {\"Average Graphics Package Power (W)\": \"38.0\"}}'\n");
  const auto smi = collector();
  ASSERT_TRUE(smi->open({folder_->path()}, {}).has_value());
  trace::MemorySink sink;
  sample_until_answered(*smi, sink);
  EXPECT_EQ(sink.text(sink.rows<trace::GpuEventRow>().at(0).source), "rocm-smi");
}

TEST_F(SmiCollectorTest, KillsHangingTool) {
  tool("amd-smi", "sleep 1000\n");
  const auto smi = collector();
  ASSERT_TRUE(smi->open({folder_->path()}, {}).has_value());
  trace::MemorySink sink;
  for (int i = 0; i < 3; ++i) {
    smi->sample(sink);  // starts it
    smi->sample(sink);
    EXPECT_EQ(smi->account().dropped_total(), i);
    now_ += 10'000'000'000;
    smi->sample(sink);
    EXPECT_EQ(smi->account().dropped_total(), i + 1);
  }
  EXPECT_EQ(smi->account().state, trace::Account::State::partial);  // and is left alone now
  now_ += 10'000'000'000;
  smi->sample(sink);
  smi->sample(sink);
  EXPECT_EQ(smi->account().dropped_total(), 3);
  smi->close();
}

TEST_F(SmiCollectorTest, FailuresAreCountedWithTheirReason) {
  for (const char* script : {"echo no GPU >&2; exit 3\n", "echo hello\n", "echo '[{\"gpu\"'\n", "exit 0\n", "kill -9 $$\n"}) {
    tool("amd-smi", script);
    const auto smi = collector();
    ASSERT_TRUE(smi->open({folder_->path()}, {}).has_value());
    trace::MemorySink sink;
    sample_until_answered(*smi, sink);
    EXPECT_TRUE(sink.rows<trace::GpuEventRow>().empty()) << script;
    EXPECT_EQ(smi->account().dropped_total(), 1) << script;
  }
}

TEST_F(SmiCollectorTest, SkipsMetricsFromSysfs) {
  tool("amd-smi", "cat <<'END'\n" + std::string(kAnswer) + "\nEND\n");
  const SysRoot machine{aaco::testing::machine_root("epyc_mi300x")};
  EXPECT_GE(quantities_of_sysfs(machine).size(), 3u);
  EXPECT_TRUE(quantities_of_sysfs({folder_->path()}).empty());
}

TEST_F(SmiCollectorTest, UnsupportedWithoutTool) {
  const auto none = collector()->open({folder_->path()}, {});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(
      make_collector()->open({folder_->path()}, {}).has_value());  // on a made-up machine the real path counts for nothing
  std::ofstream(core::join_path(folder_->path(), "amd-smi")) << "not executable";
  EXPECT_FALSE(collector()->open({folder_->path()}, {}).has_value());
}

}  // namespace
}  // namespace aaco::collectors::smi
