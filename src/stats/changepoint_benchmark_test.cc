#include <gtest/gtest.h>

#include <cstdlib>

#include "stats/change_scores_testing.h"
#include "stats/changepoint.h"
#include "stats/online_changes.h"
#include "tests/support/source_dir.h"

namespace aaco::stats {
namespace {

using testing::AnnotatedSeries;
using testing::Annotations;
using testing::cover_score;
using testing::f1_score;
using testing::read_annotated_series;

// AACO_REAL_DATA, or the shared folder beside the source tree.
std::string real_data_root() {
  const char* root = std::getenv("AACO_REAL_DATA");
  return root != nullptr ? root : AACO_SOURCE_DIR "/../shared/data";
}

using Found = std::vector<std::int64_t>;

Found offline(const std::vector<double>& series) {
  Found result;
  for (const ChangePoint& change : find_changes(series)) result.push_back(change.index);
  return result;
}

Found online(const std::vector<double>& series) {
  OnlineChangeDetector detector;
  for (const double value : series) detector.add(value);
  return detector.changes();
}

// The definitions themselves, on cases that can be worked out by hand.
TEST(ChangeScores, OfAPerfectAndAnEmptyAnswer) {
  const Annotations annotations{{50}, {50}};
  EXPECT_DOUBLE_EQ(f1_score(annotations, {50}), 1);
  EXPECT_DOUBLE_EQ(f1_score(annotations, {54}), 1);                // within the margin of 5
  EXPECT_DOUBLE_EQ(f1_score(annotations, {56}), 0.5);              // P = R = 1/2: the start alone is right
  EXPECT_DOUBLE_EQ(f1_score(annotations, {}), 2 * 1 * 0.5 / 1.5);  // P = 1, R = 1/2
  EXPECT_DOUBLE_EQ(cover_score(annotations, {50}, 100), 1);
  EXPECT_DOUBLE_EQ(cover_score(annotations, {}, 100), 0.5);
  EXPECT_DOUBLE_EQ(cover_score({{}}, {50}, 100), 0.5);
}

struct Scores {
  double f1 = 0;
  double cover = 0;
};

Scores scores_of(const std::vector<AnnotatedSeries>& all, Found (*find)(const std::vector<double>&)) {
  Scores mean;
  for (const AnnotatedSeries& one : all) {
    const Found found = find(one.values);
    mean.f1 += f1_score(one.annotations, found) / static_cast<double>(all.size());
    mean.cover +=
        cover_score(one.annotations, found, static_cast<std::int64_t>(one.values.size())) / static_cast<double>(all.size());
  }
  return mean;
}

TEST(ChangeBenchmark, AnnotatedSeriesAtDefaultSettings) {
  const auto all = read_annotated_series(real_data_root() + "/traces/perf_history/TCPD");
  if (all.empty()) GTEST_SKIP() << "skipped, no real data";
  ASSERT_EQ(all.size(), 7U);
  const Scores of_pelt = scores_of(all, offline);
  EXPECT_GE(of_pelt.f1, 0.85);
  EXPECT_GE(of_pelt.cover, 0.80);
  const Scores of_bayes = scores_of(all, online);
  EXPECT_GE(of_bayes.f1, 0.85);
  EXPECT_GE(of_bayes.cover, 0.80);
  RecordProperty("offline_f1", std::to_string(of_pelt.f1));
  RecordProperty("offline_cover", std::to_string(of_pelt.cover));
  RecordProperty("online_f1", std::to_string(of_bayes.f1));
  RecordProperty("online_cover", std::to_string(of_bayes.cover));
}

}  // namespace
}  // namespace aaco::stats
