#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "core/files.h"
#include "core/json.h"
#include "stats/changepoint.h"
#include "stats/online_changes.h"
#include "tests/support/source_dir.h"

// Series whose changes several people have marked, and the scores that the Turing Change Point Dataset's benchmark defines (van
// den Burg and Williams, arXiv 2003.06222).
namespace aaco::stats {
namespace {

using Annotations = std::vector<std::vector<std::int64_t>>;  // of each person, first values after a change

struct AnnotatedSeries {
  std::string name;
  std::vector<double> values;
  Annotations annotations;
};

using PlaceSet = std::set<std::int64_t>;

constexpr std::int64_t kMargin = 5;

PlaceSet with_start(const std::vector<std::int64_t>& places) {
  PlaceSet result(places.begin(), places.end());
  result.insert(0);
  return result;
}

// How many marks are met; an answer meets one mark.
double met(const PlaceSet& marks, PlaceSet answers) {
  double count = 0;
  for (const std::int64_t mark : marks) {
    auto nearest = answers.end();
    for (auto answer = answers.begin(); answer != answers.end(); ++answer)
      if (std::abs(*answer - mark) <= kMargin &&
          (nearest == answers.end() || std::abs(*answer - mark) < std::abs(*nearest - mark)))
        nearest = answer;
    if (nearest == answers.end()) continue;
    answers.erase(nearest);
    ++count;
  }
  return count;
}

struct Segment {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

std::vector<Segment> segments(const std::vector<std::int64_t>& places, std::int64_t length) {
  PlaceSet bounds = with_start(places);
  bounds.insert(length);
  std::vector<Segment> result;
  for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound) result.push_back({*bound, *std::next(bound)});
  return result;
}

double overlap(const Segment& a, const Segment& b) {
  const std::int64_t both = std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.start, b.start));
  return static_cast<double>(both) / static_cast<double>((a.end - a.start) + (b.end - b.start) - both);
}

core::Json parsed(const std::string& path) {
  auto document = core::read_json_file(path);
  if (!document) throw std::runtime_error(document.error().text());
  return *document;
}

// AACO_REAL_DATA, or the shared folder beside the source tree.
std::string real_data_root() {
  const char* root = std::getenv("AACO_REAL_DATA");
  return root != nullptr ? root : AACO_SOURCE_DIR "/../shared/data";
}

// The series of a folder in that data set's form (annotations.json, NAME/NAME.json); empty where the folder is not there. Throws
// on a file that is not of the form.
std::vector<AnnotatedSeries> read_annotated_series(const std::string& folder) {
  std::vector<AnnotatedSeries> result;
  if (!core::exists(folder + "/annotations.json")) return result;
  const core::Json annotations = parsed(folder + "/annotations.json");
  for (const auto& [name, people] : annotations.members()) {
    const std::string path = folder + "/" + name + "/" + name + ".json";
    if (!core::exists(path)) continue;
    AnnotatedSeries series{name, {}, {}};
    const core::Json document = parsed(path);
    for (const core::Json& value : document["series"].items().at(0)["raw"].items())
      series.values.push_back(value.as_f64().value());
    for (const auto& [person, marks] : people.members()) {
      series.annotations.emplace_back();
      for (const core::Json& mark : marks.items()) series.annotations.back().push_back(mark.as_i64().value());
    }
    result.push_back(std::move(series));
  }
  return result;
}

// F1: precision against all people's marks together, recall as the mean over people; a mark is met within 5 values, by one answer
// each; the start of the series counts as a mark for everybody.
double f1_score(const Annotations& annotations, const std::vector<std::int64_t>& found) {
  const PlaceSet answers = with_start(found);
  PlaceSet all;
  double recall = 0;
  for (const std::vector<std::int64_t>& marks : annotations) {
    const PlaceSet own = with_start(marks);
    all.insert(own.begin(), own.end());
    recall += met(own, answers) / static_cast<double>(own.size()) / static_cast<double>(annotations.size());
  }
  const double precision = met(all, answers) / static_cast<double>(answers.size());
  return 2 * precision * recall / (precision + recall);
}

// Covering: for each person's segments, weighted by length, the best Jaccard overlap with a found segment; mean over people.
double cover_score(const Annotations& annotations, const std::vector<std::int64_t>& found, std::int64_t length) {
  const std::vector<Segment> answers = segments(found, length);
  double sum = 0;
  for (const std::vector<std::int64_t>& marks : annotations)
    for (const Segment& segment : segments(marks, length)) {
      double best = 0;
      for (const Segment& answer : answers) best = std::max(best, overlap(segment, answer));
      sum += best * static_cast<double>(segment.end - segment.start) / static_cast<double>(length);
    }
  return sum / static_cast<double>(annotations.size());
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
