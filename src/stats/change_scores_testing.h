#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/json.h"

// Series whose changes people have marked, and the scores that the Turing Change Point Dataset's benchmark defines (van den Burg
// and Williams, arXiv 2003.06222), for tests and benchmarks.
namespace aaco::stats::testing {

using Annotations = std::vector<std::vector<std::int64_t>>;  // of each person, first values after a change

struct AnnotatedSeries {
  std::string name;
  std::vector<double> values;
  Annotations annotations;
};

using PlaceSet = std::set<std::int64_t>;

inline constexpr std::int64_t kMargin = 5;

inline PlaceSet with_start(const std::vector<std::int64_t>& places) {
  PlaceSet result(places.begin(), places.end());
  result.insert(0);
  return result;
}

// How many marks are met; an answer meets one mark.
inline double met(const PlaceSet& marks, PlaceSet answers) {
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

inline std::vector<Segment> segments(const std::vector<std::int64_t>& places, std::int64_t length) {
  PlaceSet bounds = with_start(places);
  bounds.insert(length);
  std::vector<Segment> result;
  for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound) result.push_back({*bound, *std::next(bound)});
  return result;
}

inline double overlap(const Segment& a, const Segment& b) {
  const std::int64_t both = std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.start, b.start));
  return static_cast<double>(both) / static_cast<double>((a.end - a.start) + (b.end - b.start) - both);
}

inline core::Json parsed(const std::string& path) {
  auto document = core::read_json_file(path);
  if (!document) throw std::runtime_error(document.error().text());
  return *document;
}

// The series of a folder in that data set's form (annotations.json, NAME/NAME.json); empty where the folder is not there. Throws
// on a file that is not of the form.
inline std::vector<AnnotatedSeries> read_annotated_series(const std::string& folder) {
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
inline double f1_score(const Annotations& annotations, const std::vector<std::int64_t>& found) {
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
inline double cover_score(const Annotations& annotations, const std::vector<std::int64_t>& found, std::int64_t length) {
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

}  // namespace aaco::stats::testing
