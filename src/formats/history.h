#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// Series of measurements over time, as benchmark trackers and tables keep them.
namespace aaco::formats::history {

struct Point {
  std::optional<std::int64_t> time_ns;  // realtime clock
  std::string label;                    // a commit, a version, a run; may be empty
  double value = 0;                     // finite
  bool operator==(const Point&) const = default;
};

struct Series {
  std::string name;
  std::string unit;                     // as written; may be empty
  std::optional<bool> lower_is_better;  // where the format says
  std::vector<Point> points;            // in the file's order
  bool operator==(const Series&) const = default;
};

struct Document {
  std::string format;  // "csv", "histogram-log", "google-benchmark", "pytest-benchmark", "hyperfine", "benchmark-data.js",
                       // "json-numbers", "annotated-series"
  std::vector<Series> series;
  std::int64_t read = 0;                        // values looked at
  std::map<std::string, std::int64_t> dropped;  // why -> how many of them
};

// A CSV row counts only if each of these columns has this text ("branch" -> "main").
using Filter = std::map<std::string, std::string>;

// What the bytes are is told by their beginning: JSON of Google Benchmark (a series a benchmark, a point a repetition), of
// pytest-benchmark (a point a file: the median), of hyperfine (a series a command, a point a run), a data.js
// of github-action-benchmark (a series a benchmark of a suite, a point a commit), a JSON list of numbers or lists of named
// numbers, the Turing Change Point Dataset's form, a histogram log, else a table with a header, ',' ';' or tab between its
// columns: every numeric column is a series, a column of times gives the times, the first other one the labels. Values that are
// missing or not finite are counted in `dropped`. Fails with invalid_input where nothing numeric is found.
core::Result<Document> read(std::string_view bytes, const std::string& name, const Filter& filter = {});

}  // namespace aaco::formats::history
