#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"

namespace aaco::report {

inline constexpr int kReportSchemaVersion = 1;

struct TextOptions {
  int width = 100;  // columns
  bool colour = false;
  bool unicode = true;
  bool brief = false;  // the head, where the time went, why, what to do, the hardware: what one wants right after a run
};

std::string render_text(const ReportModel& model, const TextOptions& options);
std::string render_markdown(const ReportModel& model);
// The whole report as JSON with a schema version: what the page reads (docs/formats/report.md).
core::Json render_json(const ReportModel& model);
// `page` is the built page (share/web/report.html); the model is put into it as data, safely escaped, with very long series
// thinned for drawing (and the page says so). Refuses a page without exactly one place for the data.
core::Result<std::string> render_html(const ReportModel& model, std::string_view page);
// A built page (share/web/*.html) with its data and, for browsers without script, its text; both safely escaped. Fails with
// invalid_input where the page is not such a template.
core::Result<std::string> fill_page(std::string_view page, const core::Json& document, std::string_view plain_text);
inline constexpr std::array<std::string_view, 14> kCsvTables = {
    "iterations", "parts",   "operators",  "nodes",       "kernels",          "metrics",          "telemetry",
    "roofline",   "scaling", "work_rates", "collectives", "collective_ranks", "collective_waits", "decoder"};
// One table of the report as CSV (RFC 4180), one of kCsvTables; a table without rows is its header.
core::Result<std::string> render_csv(const ReportModel& model, std::string_view table);

}  // namespace aaco::report
