#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::report {

struct TextOptions {
  int width = 100;     // columns
  bool colour = false;
  bool unicode = true;
};

std::string render_text(const ReportModel& model, const TextOptions& options);
std::string render_markdown(const ReportModel& model);
// The whole report as JSON with a schema version: what the page reads.
core::Json render_json(const ReportModel& model);
// `page` is the built page (share/web/report.html); the model is put into it as data, safely escaped.
core::Result<std::string> render_html(const ReportModel& model, std::string_view page);
// One table of the report as CSV: iterations, operators, nodes, kernels, metrics.
core::Result<std::string> render_csv(const ReportModel& model, std::string_view table);
// One plot as a stand-alone SVG: latency, distribution, operators, timeline, telemetry.
core::Result<std::string> render_svg(const ReportModel& model, std::string_view plot);

}  // namespace aaco::report
