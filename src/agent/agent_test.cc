#include "agent/agent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collectors/node_collectors.h"
#include "core/files.h"
#include "core/strings.h"
#include "tests/support/fake_machine.h"
#include "tracelake/engine.h"

namespace aaco::agent {
namespace {

using aaco::testing::FakeMachine;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kStart = 1'767'225'600 * kSecond;  // 2026-01-01

// Simulated time: realtime can be set like a real one.
struct TwoClocks final : core::Clock {
  std::int64_t monotonic = 100 * kSecond, realtime = kStart;
  [[nodiscard]] std::int64_t now_ns(core::ClockId id) const override {
    return id == core::ClockId::realtime ? realtime : monotonic;
  }
  void sleep_until(std::int64_t) const override {}
};

// For a collector, which owns its clock.
struct Follower final : core::Clock {
  explicit Follower(const TwoClocks& of_node) : clocks(of_node) {}
  [[nodiscard]] std::int64_t now_ns(core::ClockId id) const override { return clocks.now_ns(id); }
  void sleep_until(std::int64_t) const override {}
  const TwoClocks& clocks;
};

// A collector of rows whose clock is `behind_ns` behind the node's start.
struct FakeReceiver final : Receiver {
  explicit FakeReceiver(const TwoClocks& of_node) : clocks(of_node) {}
  core::Status insert(std::string rows) override {
    ++tries;
    if (away) return core::fail(core::ErrorCode::io, "cannot reach it");
    for (const std::string_view line : core::split_lines(rows)) lines.emplace_back(line);
    return {};
  }
  core::Result<std::int64_t> now_s() override {
    ++tries;
    if (away) return core::fail(core::ErrorCode::io, "cannot reach it");
    return (kStart + clocks.monotonic - 100 * kSecond - behind_ns) / kSecond;
  }
  const TwoClocks& clocks;
  std::int64_t behind_ns = 0;
  bool away = false;
  int tries = 0;
  std::vector<std::string> lines;
};

struct Node {
  explicit Node(SpoolOptions options = {}) {
    options.folder = folder.path() + "/spool";
    spool = *Spool::open(std::move(options));
    sender = std::make_unique<Sender>(receiver, *spool, clocks);
    std::vector<std::unique_ptr<collectors::Collector>> all;
    agent = std::make_unique<Agent>(Settings{"n1", {machine.root()}, "", folder.path() + "/status.json", clocks.realtime},
                                    std::move(all), *spool, *sender, clocks);
  }
  void run(std::int64_t duration_ns, std::int64_t step_ns = kSecond) {
    for (std::int64_t passed = 0; passed < duration_ns; passed += step_ns) {
      clocks.monotonic += step_ns;
      clocks.realtime += step_ns;
      agent->sample();
      while (sender->step()) {
      }
    }
  }
  // Minutes in the received rows, as often as they came.
  [[nodiscard]] std::multiset<std::string> minutes() const {
    std::multiset<std::string> out;
    for (const std::string& line : receiver.lines) out.insert(line.substr(0, line.find('\t')));
    return out;
  }
  core::TemporaryDirectory folder = *core::TemporaryDirectory::make("/tmp", "aaco-agent");
  FakeMachine machine{"epyc_mi300x", {"proc", "sys/class/drm"}};
  TwoClocks clocks;
  FakeReceiver receiver{clocks};
  std::unique_ptr<Spool> spool;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Agent> agent;
};

TEST(Agent, SendsOneRowPerMinuteOfTheHost) {
  Node node;
  node.run(10 * 60 * kSecond);
  EXPECT_GE(node.receiver.lines.size(), 9U);
  EXPECT_LE(node.receiver.lines.size(), 20U);
  const auto columns = row_columns();
  const auto cells = tracelake::split_cells(node.receiver.lines.back());
  ASSERT_EQ(cells.size(), columns.size());
  EXPECT_EQ(cells[1], "n1");
  EXPECT_TRUE(cells.back().has_value());
}
TEST(Agent, EngineAwayForAnHourIsCaughtUp) {
  Node node;
  node.run(120 * kSecond);
  node.receiver.away = true;
  node.receiver.tries = 0;
  node.run(kHour);
  EXPECT_LE(node.receiver.tries, 25);  // asks less and less often
  EXPECT_GE(node.spool->counts().waiting_rows, 59);
  node.receiver.away = false;
  node.run(360 * kSecond);
  EXPECT_LE(node.spool->counts().waiting_rows, 2);
  const auto minutes = node.minutes();
  EXPECT_GE(minutes.size(), 65U);
  for (const auto& minute : minutes) EXPECT_LE(minutes.count(minute), 3U);  // one per group: host, and health of two devices
  EXPECT_EQ(node.spool->counts().dropped_rows, 0);
}
TEST(Agent, ClockOffsetIsFoundAndCarried) {
  Node node;
  node.receiver.behind_ns = 90 * kSecond + 250'000'000;
  node.run(600 * kSecond, kSecond / 4);
  ASSERT_TRUE(node.sender->clock_offset_ns());
  EXPECT_NEAR(static_cast<double>(*node.sender->clock_offset_ns()), 90.25e9, 0.3e9);
  const auto cells = tracelake::split_cells(node.receiver.lines.back());
  const std::size_t place = 7 + trace::fleet_column("clock_offset_ns");
  ASSERT_TRUE(cells[place].has_value());
  EXPECT_NEAR(std::stod(*cells[place]), 90.25e9, 0.3e9);
  // By the collector's clock: 90 s earlier than this node's.
  EXPECT_LT(std::stoll(*cells.back()), node.clocks.realtime - 89 * kSecond);
}
TEST(Agent, ClockSetForwardAndBackIsCountedAndNothingIsLost) {
  Node node;
  node.run(300 * kSecond);
  node.clocks.realtime += kHour;
  node.run(180 * kSecond);
  node.clocks.realtime -= kHour;
  node.run(300 * kSecond);
  node.agent->finish();
  node.sender->last_try();
  EXPECT_EQ(node.agent->status()["clock"]["jumps"].as_i64(), 2);
  EXPECT_EQ(node.agent->status()["sent_rows"].as_i64(), node.agent->status()["rows"].as_i64());
  EXPECT_GE(node.receiver.lines.size(), 12U);
}
TEST(Agent, NodeWithoutTheHardwareNamesWhatIsAbsent) {
  TwoClocks clocks;
  FakeReceiver receiver{clocks};
  const FakeMachine machine;
  const auto folder = *core::TemporaryDirectory::make("/tmp", "aaco-agent");
  SpoolOptions options;
  options.folder = folder.path();
  const auto spool = *Spool::open(options);
  Sender sender(receiver, *spool, clocks);
  const Agent agent({"n", {machine.root()}, "", "", 0},
                    collectors::node_collectors([] { return std::make_unique<core::SystemClock>(); }), *spool, sender, clocks);
  EXPECT_GE(agent.status()["absent"].items().size(), 2U);
}
TEST(Agent, DevicesOfAnAmdNodeHaveTheirRows) {
  Node node;
  auto collectors = collectors::node_collectors([&] { return std::make_unique<Follower>(node.clocks); });
  node.agent = std::make_unique<Agent>(Settings{"n1", {node.machine.root()}, "train", "", 0}, std::move(collectors), *node.spool,
                                       *node.sender, node.clocks);
  for (int i = 0; i < 3; ++i) {
    node.machine.write("/sys/class/drm/card2/device/ras/xgmi_wafl_err_count", "ue: 0\nce: " + std::to_string(4 * i) + "\n");
    node.run(60 * kSecond, 20 * kSecond);
  }
  node.agent->finish();
  node.sender->last_try();
  std::set<std::string> groups;
  double links = -1;
  for (const std::string& line : node.receiver.lines) {
    const auto cells = tracelake::split_cells(line);
    groups.insert(*cells[3] + cells[2].value_or(""));
    EXPECT_EQ(cells[5], "train");
    if (const auto& errors = cells[7 + trace::fleet_column("link_errors")]; errors && *cells[2] == "0")
      links = std::max(links, std::stod(*errors));
  }
  EXPECT_EQ(groups, (std::set<std::string>{"gpu0", "gpu1", "health0", "health1", "host"}));
  EXPECT_EQ(links, 4);
}

}  // namespace
}  // namespace aaco::agent
