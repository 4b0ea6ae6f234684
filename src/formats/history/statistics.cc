#include "core/time_text.h"
#include "formats/history/readers.h"

namespace aaco::formats::history {

using core::Json;

bool is_pytest_benchmark(const Json& root) {
  return root["machine_info"].is_object() && root["benchmarks"].is_array() && root["commit_info"].is_object();
}

// https://pytest-benchmark.readthedocs.io: a saved file is one run of a suite, at a commit; times are seconds.
Document read_pytest_benchmark(const Json& root) {
  Document document;
  document.format = "pytest-benchmark";
  SeriesBook book(document);
  Point point;
  point.time_ns = core::parse_time_text(root["datetime"].text());
  point.label = std::string(root["commit_info"]["id"].text()).substr(0, 10);
  for (const Json& bench : root["benchmarks"].items()) {
    const std::string name(bench[bench["fullname"].is_string() ? "fullname" : "name"].text());
    Series& series = book.at(name);
    series.unit = "s";
    series.lower_is_better = true;
    add_value(bench["stats"]["median"].as_f64(), point, series, document);
  }
  return document;
}

bool is_hyperfine(const Json& root) {
  const auto& results = root["results"].items();
  return !results.empty() && results.front()["command"].is_string() &&
         (results.front()["times"].is_array() || results.front()["mean"].is_number());
}

// https://github.com/sharkdp/hyperfine: --export-json; times are seconds.
Document read_hyperfine(const Json& root) {
  Document document;
  document.format = "hyperfine";
  SeriesBook book(document);
  for (const Json& result : root["results"].items()) {
    Series& series = book.at(std::string(result["command"].text()));
    series.unit = "s";
    series.lower_is_better = true;
    if (!result["times"].is_array()) {
      add_value(result["mean"].as_f64(), {}, series, document);
      continue;
    }
    for (const Json& time : result["times"].items()) add_value(time.as_f64(), {}, series, document);
  }
  return document;
}

}  // namespace aaco::formats::history
