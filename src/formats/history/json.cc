#include <algorithm>
#include <array>
#include <set>

#include "core/numbers.h"
#include "core/time_text.h"
#include "formats/history/readers.h"

namespace aaco::formats::history {
namespace {

using core::ErrorCode;
using core::Json;

std::string text_of(const Json& value) { return std::string(value.text()); }

// --- Google Benchmark ---

void add_counter(const Json& run, const char* key, const char* unit, bool lower, const std::string& name, const Point& point,
                 SeriesBook& book, Document& document) {
  if (!run.contains(key)) return;
  Series& series = book.at(name + ":" + key);
  series.unit = unit;
  series.lower_is_better = lower;
  add_value(run[key].as_f64(), point, series, document);
}

// Before run_type there was (version 1.5) an aggregate was known by its name alone.
bool is_named_aggregate(const Json& run, const std::set<std::string>& names) {
  if (run.contains("run_type")) return false;
  const std::string name = text_of(run["name"]);
  for (const std::string_view ending : {"_mean", "_median", "_stddev", "_cv"})
    if (name.ends_with(ending) && names.contains(name.substr(0, name.size() - ending.size()))) return true;
  return false;
}

// https://github.com/google/benchmark: docs/user_guide.md, "Output Formats". Aggregates repeat what the repetitions say.
Document read_google_benchmark(const Json& root) {
  Document document;
  document.format = "google-benchmark";
  SeriesBook book(document);
  Point point;
  point.time_ns = core::parse_time_text(root["context"]["date"].text());
  std::set<std::string> names;
  for (const Json& run : root["benchmarks"].items()) names.insert(text_of(run["name"]));
  for (const Json& run : root["benchmarks"].items()) {
    if (run["run_type"].text() == "aggregate" || is_named_aggregate(run, names)) {
      ++document.dropped["aggregate of repetitions"];
      ++document.read;
      continue;
    }
    if (run["error_occurred"].as_bool() == true) {
      ++document.dropped["failed benchmark"];
      ++document.read;
      continue;
    }
    const std::string name = text_of(run["run_name"].is_string() ? run["run_name"] : run["name"]);
    if (name.empty()) {
      ++document.dropped["benchmark without a name"];
      ++document.read;
      continue;
    }
    Series& series = book.at(name);
    series.unit = run["time_unit"].is_string() ? text_of(run["time_unit"]) : "ns";
    series.lower_is_better = true;
    if (const auto repetition = run["repetition_index"].as_i64()) point.label = "repetition " + std::to_string(*repetition);
    add_value(run["real_time"].as_f64(), point, series, document);
    if (run.contains("cpu_time")) {
      Series& cpu = book.at(name + ":cpu_time");
      cpu.unit = book.at(name).unit;
      cpu.lower_is_better = true;
      add_value(run["cpu_time"].as_f64(), point, cpu, document);
    }
    add_counter(run, "items_per_second", "1/s", false, name, point, book, document);
    add_counter(run, "bytes_per_second", "bytes/s", false, name, point, book, document);
  }
  return document;
}

// --- github-action-benchmark ---

// Tools whose figure is a rate or a score (https://github.com/benchmark-action/github-action-benchmark, src/extract.ts).
bool bigger_is_better(std::string_view tool) {
  constexpr std::array<std::string_view, 3> kBigger = {"customBiggerIsBetter", "benchmarkjs", "pytest"};
  return std::find(kBigger.begin(), kBigger.end(), tool) != kBigger.end();
}

Document read_tracker(const Json& root) {
  Document document;
  document.format = "benchmark-data.js";
  SeriesBook book(document);
  const bool several = root["entries"].members().size() > 1;
  for (const auto& [suite, entries] : root["entries"].members())
    for (const Json& entry : entries.items()) {
      Point point;
      if (const auto date = entry["date"].as_f64()) point.time_ns = core::parse_epoch(*date);
      point.label = text_of(entry["commit"]["id"]).substr(0, 10);
      for (const Json& bench : entry["benches"].items()) {
        const std::string name = text_of(bench["name"]);
        Series& series = book.at(several ? suite + "/" + name : name);
        series.unit = text_of(bench["unit"]);
        series.lower_is_better = !bigger_is_better(entry["tool"].text());
        add_value(bench["value"].as_f64(), point, series, document);
      }
    }
  return document;
}

// --- plain lists ---

void add_numbers(const Json& list, const std::string& name, SeriesBook& book, Document& document) {
  Series& series = book.at(name);
  for (const Json& value : list.items()) add_value(value.as_f64(), {}, series, document);
}

Document read_annotated(const Json& root, const std::string& name) {
  Document document;
  document.format = "annotated-series";
  SeriesBook book(document);
  const auto& times = root["time"]["raw"].is_array() ? root["time"]["raw"].items() : root["time"]["index"].items();
  for (const Json& one : root["series"].items()) {
    Series& series = book.at(one["label"].is_string() ? text_of(one["label"]) : name);
    const auto& values = one["raw"].items();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Point point;
      if (i < times.size()) {
        point.label = times[i].is_string() ? text_of(times[i]) : times[i].dump(-1);
        if (times[i].is_string()) point.time_ns = core::parse_time_text(times[i].text());
      }
      add_value(values[i].as_f64(), std::move(point), series, document);
    }
  }
  return document;
}

Document read_lists(const Json& root, const std::string& name) {
  Document document;
  document.format = "json-numbers";
  SeriesBook book(document);
  if (root.is_array()) {
    add_numbers(root, name, book, document);
    return document;
  }
  for (const auto& [key, list] : root.members())
    if (list.is_array() && !list.items().empty() && list.items().front().is_number()) add_numbers(list, key, book, document);
  return document;
}

}  // namespace

core::Result<Document> read_json(const Json& root, const std::string& name) {
  if (is_pytest_benchmark(root)) return read_pytest_benchmark(root);
  if (is_hyperfine(root)) return read_hyperfine(root);
  if (root["benchmarks"].is_array()) return read_google_benchmark(root);
  if (root["entries"].is_object()) return read_tracker(root);
  if (!root["series"].items().empty() && root["series"].items().front()["raw"].is_array()) return read_annotated(root, name);
  return read_lists(root, name);
}

}  // namespace aaco::formats::history
