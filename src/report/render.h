#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::report {

inline constexpr int kReportSchemaVersion = 1;

struct TextOptions {
  int width = 100;     // columns
  bool colour = false;
  bool unicode = true;
};

std::string render_text(const ReportModel& model, const TextOptions& options);
std::string render_markdown(const ReportModel& model);
// The whole report as JSON with a schema version: what the page reads (docs/formats/report.md).
core::Json render_json(const ReportModel& model);
// `page` is the built page (share/web/report.html); the model is put into it as data, safely escaped, with very long series
// thinned for drawing (and the page says so). Refuses a page without exactly one place for the data.
core::Result<std::string> render_html(const ReportModel& model, std::string_view page);
// One table of the report as CSV: iterations, operators, nodes, kernels, metrics.
core::Result<std::string> render_csv(const ReportModel& model, std::string_view table);
// One plot as a stand-alone SVG: latency, distribution, operators, timeline, telemetry, flame.
core::Result<std::string> render_svg(const ReportModel& model, std::string_view plot);

}  // namespace aaco::report
