#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "trace/metric.h"

namespace aaco::report {

class MarkdownPage;
class TextPage;
struct ReportModel;

// The points of a sweep, in the order they ran.
struct Scaling {
  struct Value {
    double value = 0;
    std::optional<trace::Interval> ci95;
  };
  struct Point {
    std::string label;  // what was swept: "batch 8, 2 threads"
    std::optional<std::string> session_id, error, backend;
    std::optional<std::int64_t> batch, threads;
    std::vector<std::pair<std::string, std::optional<std::int64_t>>> dimensions;
    std::optional<Value> median_ns, p90_ns, items_per_second;
    std::optional<double> relative_ratio;  // throughput over that of the first point that ran
  };
  struct Summary {
    std::string text, confidence;  // empty: no point ran
  };
  Summary summary;
  std::vector<Point> points;
};

core::Json to_json(const Scaling& section);
void write_text(TextPage& page, const Scaling& section, const ReportModel& model);
void write_markdown(MarkdownPage& page, const Scaling& section);

}  // namespace aaco::report
