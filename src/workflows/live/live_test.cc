#include "workflows/live.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "tests/support/fake_machine.h"
#include "workflows/live_record.h"

namespace aaco::workflows {
namespace {

using core::Json;
using ::testing::ElementsAre;

struct Root {
  core::TemporaryDirectory folder = *core::TemporaryDirectory::make("/tmp", "aaco-live");
  trace::SessionManifest manifest;
  Root() {
    manifest.id.text = "20261121T081530Z-3f9a1c";
    manifest.kind = "run";
  }
  [[nodiscard]] std::string file() const { return live_folder(folder.path()) + "/" + manifest.id.text + ".jsonl"; }
};

Json block(double median_ns) {
  return Json::object({{"time_ns", 5},
                       {"count", 3},
                       {"min_ns", 1.0},
                       {"p50_ns", 2.0},
                       {"max_ns", 4.0},
                       {"iterations", 3},
                       {"median_ns", median_ns}});
}

TEST(LiveSessions, ReadWhatTheirMakerTells) {
  const Root root;
  LiveRecord record(root.folder.path(), root.manifest, "mlp, cpu, batch 1");
  record.phase("measuring");
  record.line(block(2));
  LiveSessions sessions(root.folder.path());
  auto read = sessions.read();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].what, "mlp, cpu, batch 1");
  EXPECT_EQ(read[0].phase, "measuring");
  EXPECT_EQ(read[0].process_id, ::getpid());
  record.line(block(7));
  read = sessions.read();
  EXPECT_EQ(read[0].buckets.size(), 2U);
  EXPECT_EQ(read[0].buckets[1].number, 1);
  EXPECT_EQ(read[0].median_ns, 7);
}

TEST(LiveSessions, AnEndedSessionIsGone) {
  const Root root;
  LiveSessions sessions(root.folder.path());
  {
    const LiveRecord record(root.folder.path(), root.manifest, "mlp");
    EXPECT_EQ(sessions.read().size(), 1U);
  }
  EXPECT_TRUE(sessions.read().empty());
  EXPECT_FALSE(std::filesystem::exists(root.file()));
}

TEST(LiveSessions, AKilledMakerLeavesNothingRunning) {
  const Root root;
  std::filesystem::create_directories(live_folder(root.folder.path()));
  std::ofstream(root.file()) << R"({"session":"x","kind":"run","process_id":)" << ::getpid() << R"(,"process_started":1})"
                             << "\n";
  EXPECT_TRUE(LiveSessions(root.folder.path()).read().empty());
  EXPECT_FALSE(std::filesystem::exists(root.file()));
}

TEST(LiveSessions, DamagedAndHalfLinesAreSkipped) {
  const Root root;
  LiveRecord record(root.folder.path(), root.manifest, "mlp");
  std::ofstream(root.file(), std::ios::app) << "nonsense\n{\"min_ns\":1}\n[]\n{\"min_ns\":1,\"p50_ns\":2,\"max_";
  LiveSessions sessions(root.folder.path());
  EXPECT_TRUE(sessions.read()[0].buckets.empty());
  std::ofstream(root.file(), std::ios::app) << "ns\":3}\n";
  EXPECT_EQ(sessions.read()[0].buckets.size(), 1U);
}

TEST(LiveSessions, MemoryIsBounded) {
  const Root root;
  LiveRecord record(root.folder.path(), root.manifest, "mlp");
  for (std::size_t i = 0; i < LiveSessions::kMaxBuckets + 20; ++i) record.line(block(1));
  const auto read = LiveSessions(root.folder.path()).read();
  EXPECT_EQ(read[0].buckets.size(), LiveSessions::kMaxBuckets);
  EXPECT_EQ(read[0].buckets.back().number, static_cast<std::int64_t>(LiveSessions::kMaxBuckets) + 19);
}

TEST(LiveSessions, ARootWithoutAnyIsEmpty) { EXPECT_TRUE(LiveSessions("/nonexistent").read().empty()); }

TEST(LiveRecord, ARootThatCannotBeWrittenIsIgnored) {
  const Root root;
  LiveRecord record("/nonexistent", root.manifest, "mlp");
  record.phase("measuring");
}

TEST(MachineWatch, ReadsTheGpusOfAFakeMachine) {
  MachineWatch watch(testing::machine_root("epyc_mi300x"));
  const report::LiveMachine& machine = watch.sample();
  ASSERT_FALSE(machine.gpus.empty());
  EXPECT_TRUE(machine.gpus[0].power_watts.has_value());
  EXPECT_TRUE(machine.memory_total_bytes.has_value());
}

TEST(MachineWatch, AnEmptyRootHasNoSensors) {
  const testing::FakeMachine machine;
  MachineWatch watch(machine.root());
  EXPECT_TRUE(watch.sample().gpus.empty());
  EXPECT_FALSE(watch.sample().cpu_use_ratio.has_value());
}

void add_process(const testing::FakeMachine& machine, int id, const std::string& name, int parent, int ticks) {
  const std::string folder = "/proc/" + std::to_string(id);
  machine.write(folder + "/stat", std::to_string(id) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " +
                                      std::to_string(ticks) + " 0 0 0 20 0 2 0 100 0 50 0");
  machine.write(folder + "/task/" + std::to_string(id) + "/schedstat", "1 0 1");
}

TEST(ProcessWatch, ListsTheTreeParentsFirst) {
  const testing::FakeMachine machine;
  add_process(machine, 10, "aaco", 1, 5);
  add_process(machine, 30, "b) c", 10, 5);
  add_process(machine, 20, "other", 1, 5);
  add_process(machine, 40, "leaf", 30, 5);
  ProcessWatch watch(machine.root());
  std::vector<std::int64_t> ids;
  for (const auto& process : watch.look({10})) ids.push_back(process.id);
  EXPECT_THAT(ids, ElementsAre(10, 30, 40));
  const auto again = watch.look({10});
  EXPECT_EQ(again[1].name, "b) c");
  EXPECT_EQ(again[2].depth, 2);
  EXPECT_EQ(again[0].cpu_cores, 0);
}

TEST(ProcessWatch, AProcessThatIsItsOwnAncestorEnds) {
  const testing::FakeMachine machine;
  add_process(machine, 10, "a", 11, 5);
  add_process(machine, 11, "b", 10, 5);
  EXPECT_EQ(ProcessWatch(machine.root()).look({10}).size(), 2U);
}

TEST(ProcessWatch, WithoutRootsNothingIsRead) { EXPECT_TRUE(ProcessWatch("/nonexistent").look({}).empty()); }

}  // namespace
}  // namespace aaco::workflows
