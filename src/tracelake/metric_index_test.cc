#include "tracelake/metric_index.h"

#include <filesystem>

#include "core/strings.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::join_path;

constexpr int kSessions = 70, kFewestIndexed = 64;

class MetricIndexTest : public SessionTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < kSessions; ++i) paths.push_back(add(i));
  }
  std::string add(int number, const std::string& unit = "ns") const {
    std::string path = join_path(root, "2026-11-21/run-" + std::to_string(1000 + number));
    write(path, "latency.p50_ns", 100.25 + number, unit);
    return path;
  }
  static void write(const std::string& path, const std::string& id, double value, const std::string& unit = "ns") {
    EXPECT_TRUE(core::make_directories(join_path(path, "metrics")));
    const trace::Metrics metrics = {{"latency.cov_ratio", 0.5, "ratio", {}, {}}, {id, value, unit, {}, 0}, {id, -1, unit, {}, 1}};
    EXPECT_TRUE(core::write_file_atomic(join_path(path, "metrics/inference_summary.json"), to_json(metrics).dump()));
  }
  static core::Result<trace::Metrics> read(const std::string& path) {
    AACO_ASSIGN(const core::Json document, core::read_json_file(join_path(path, "metrics/inference_summary.json")));
    return trace::metrics_from_json(document);
  }
  struct Answers {
    std::vector<std::optional<double>> values;
    std::size_t read = 0, failed = 0;
    std::string unit;
  };
  // Every session of `paths` in order, through an index as a new process has it.
  [[nodiscard]] Answers ask(const std::string& metric = "latency.p50_ns") const {
    MetricIndex index(root, metric, read);
    Answers answers;
    for (const std::string& path : paths) {
      const auto found = index.find(path);
      answers.failed += found ? 0 : 1;
      answers.values.push_back(found && *found ? std::optional((*found)->value) : std::nullopt);
      if (found && *found) answers.unit = (*found)->unit;
    }
    answers.read = index.sessions_read();
    index.save();
    return answers;
  }
  [[nodiscard]] std::string file() const { return join_path(root, ".metrics"); }
  std::vector<std::string> paths;
};

TEST_F(MetricIndexTest, DocumentsAreReadOnce) {
  const Answers first = ask(), second = ask();
  EXPECT_EQ(first.read, paths.size());
  EXPECT_EQ(second.read, 0U);
  EXPECT_EQ(second.values, first.values);
  EXPECT_EQ(second.values[7], 107.25);
  EXPECT_EQ(second.unit, "ns");
}
TEST_F(MetricIndexTest, EveryMetricIsAnsweredFromOneReading) {
  (void)ask();
  const Answers other = ask("latency.cov_ratio");
  EXPECT_EQ(other.read, 0U);
  EXPECT_EQ(other.values[3], 0.5);
  EXPECT_EQ(other.unit, "ratio");
  EXPECT_EQ(ask("latency").values[3], std::nullopt) << "an id is never taken for a longer one";
}
TEST_F(MetricIndexTest, AddedSessionIsRead) {
  (void)ask();
  paths.push_back(add(kSessions));
  EXPECT_EQ(ask().read, 1U);
  EXPECT_EQ(ask().read, 0U);
  EXPECT_EQ(ask().values.back(), 100.25 + kSessions);
}
TEST_F(MetricIndexTest, ChangedSessionIsReadAgain) {
  (void)ask();
  write(paths[5], "latency.p50_ns", 7);
  const Answers changed = ask();
  EXPECT_EQ(changed.read, 1U);
  EXPECT_EQ(changed.values[5], 7);
  EXPECT_EQ(ask().values[5], 7);
}
TEST_F(MetricIndexTest, DocumentThatAppearsIsSeen) {
  (void)ask();
  ASSERT_TRUE(core::write_file_atomic(join_path(paths[5], "metrics/derived_metrics.json"), "{}"));
  EXPECT_EQ(ask().read, 1U);
}
TEST_F(MetricIndexTest, DeletedSessionLeavesTheIndex) {
  (void)ask();
  ASSERT_TRUE(core::remove_tree(paths[5]));
  paths.erase(paths.begin() + 5);
  EXPECT_EQ(ask().read, 0U);
  paths.push_back(add(kSessions));
  (void)ask();
  EXPECT_EQ(core::read_file(file())->find("run-1005"), std::string::npos);
}
TEST_F(MetricIndexTest, SessionsThatWereNotAskedForStay) {
  (void)ask();
  const std::vector<std::string> all = paths;
  paths.back() = add(kSessions);  // all[kSessions - 1] is left out
  (void)ask();
  paths = all;
  EXPECT_EQ(ask().read, 0U);
}
TEST_F(MetricIndexTest, UnreadableSessionIsTriedEachTime) {
  ASSERT_TRUE(core::write_file_atomic(join_path(paths[5], "metrics/inference_summary.json"), "{\"a"));
  for (int turn = 0; turn < 2; ++turn) {
    const Answers answers = ask();
    EXPECT_EQ(answers.failed, 1U);
    EXPECT_EQ(answers.values[5], std::nullopt);
  }
  write(paths[5], "latency.p50_ns", 7);
  EXPECT_EQ(ask().values[5], 7);
}
TEST_F(MetricIndexTest, DamagedIndexIsRenewed) {
  const Answers truth = ask();
  const std::string whole = *core::read_file(file());
  const std::string digit = core::replace_all(whole, "107.25", "108.25");
  for (const std::string& text : {std::string(), std::string("nonsense"), whole.substr(0, whole.size() / 2), whole + "x", digit,
                                  whole.substr(0, 20), core::replace_all(whole, "index 1", "index 2")}) {
    ASSERT_TRUE(core::write_file_atomic(file(), text));
    const Answers answers = ask();
    EXPECT_EQ(answers.values, truth.values);
    EXPECT_EQ(answers.read, paths.size());
    EXPECT_EQ(ask().read, 0U);
  }
}
TEST_F(MetricIndexTest, UnitsAreKeptBySession) {
  paths[3] = add(3, "us");
  (void)ask();
  MetricIndex index(root, "latency.p50_ns", read);
  EXPECT_EQ((*index.find(paths[3]))->unit, "us");
  EXPECT_EQ((*index.find(paths[4]))->unit, "ns");
}
TEST_F(MetricIndexTest, OddNamesAreReadButNotKept) {
  write(paths[3], "odd\tid", 3);
  for (int turn = 0; turn < 2; ++turn) {
    const Answers answers = ask("odd\tid");
    EXPECT_EQ(answers.values[3], 3);
    EXPECT_EQ(answers.values[4], std::nullopt);
  }
}
TEST_F(MetricIndexTest, SmallLakesAndUnwritableRootsHaveNone) {
  paths.resize(kFewestIndexed - 1);
  (void)ask();
  EXPECT_FALSE(core::exists(file()));
  paths.push_back(add(kSessions));
  ASSERT_TRUE(core::make_directories(file()));
  EXPECT_EQ(ask().values[4], 104.25);
  EXPECT_EQ(ask().read, paths.size());
}

}  // namespace
}  // namespace aaco::tracelake
