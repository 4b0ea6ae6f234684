#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "report/model.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Everything a report shows, read from a stored session.
core::Result<report::ReportModel> load_report(const std::string& session_path, const core::Paths& paths);
core::Result<report::ReportModel> load_report_by_name(const std::string& name, const core::Paths& paths);

// What only the page shows: the timeline of a trace. Call it before render_page() and write_page().
core::Status add_page_parts(report::ReportModel& model, const std::string& session_path);
core::Status add_page_parts_by_name(report::ReportModel& model, const std::string& name, const core::Paths& paths);

// The report as a page; fails with unsupported where this AACO was built without it.
core::Result<std::string> render_page(const report::ReportModel& model, const core::Paths& paths);
// Writes the page to report/report.html in the bundle and answers its path.
core::Result<std::string> write_page(const report::ReportModel& model, const std::string& session_path, const core::Paths& paths);

// The page printed by the machine's Chromium (AACO_CHROMIUM, else the first of chromium, chromium-browser, google-chrome in
// PATH), as bytes of a PDF with page numbers. Fails with not_found without a Chromium, timed_out after a minute, io where it
// writes none.
core::Result<std::string> print_page(const report::ReportModel& model, const Services& services);

}  // namespace aaco::workflows
