#include "cli/output/session_output.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "core/files.h"
#include "report/render.h"
#include "workflows/session_report.h"

namespace aaco::cli {

namespace {

std::string report_text(const Context& context, const report::ReportModel& model, bool brief, bool colour) {
  report::TextOptions options;
  options.width = context.width;
  options.colour = colour;
  options.brief = brief;
  const std::string locale = context.environment.get("LC_ALL").value_or(
      context.environment.get("LC_CTYPE").value_or(context.environment.get("LANG").value_or("C.UTF-8")));
  options.unicode = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  return render_text(model, options);
}

using Output = std::function<void(const std::string& text, bool is_report)>;

void finish(Context& context, const workflows::SessionOutcome& outcome, bool json, bool no_report, bool colour,
            const Output& output) {
  context.progress("writing the report");
  auto model = workflows::load_report(outcome.path, context.paths);
  if (!model) return context.fail(model.error());
  std::string page;
  if (!no_report) {
    if (const auto added = workflows::add_page_parts(*model, outcome.path); !added)
      context.note("timeline left out of the page: " + added.error().text());
    auto written = workflows::write_page(*model, outcome.path, context.paths);
    if (written)
      page = *written;
    else
      context.note("report page not written: " + written.error().text());
  }
  context.progress("");
  if (json) return output(session_json(outcome).dump() + "\n", false);
  if (context.quiet) return output(outcome.manifest.id.text + "\n", false);
  output(report_text(context, *model, true, colour), true);
  context.note(fmt::format("\nsession  {}\nfolder   {}", outcome.manifest.id.text, outcome.path));
  if (!page.empty()) context.note("page     " + page);
  context.note("more     aaco report " + outcome.manifest.id.text);
}

}  // namespace

void print_report(Context& context, const report::ReportModel& model, bool brief) {
  context.print(report_text(context, model, brief, context.colour));
}

void finish_session(Context& context, const core::Result<workflows::SessionOutcome>& outcome, bool json, bool no_report) {
  if (!outcome) return context.fail(outcome.error());
  finish(context, *outcome, json, no_report, context.colour, [&](const std::string& text, bool) { context.print(text); });
}

void finish_recorded_session(Context& context, const workflows::SessionOutcome& outcome, bool json, bool no_report,
                             const std::string& report_to) {
  const bool colour = report_to.empty() && context.terminal && !context.environment.get("NO_COLOR");
  finish(context, outcome, json, no_report, colour, [&](const std::string& text, bool is_report) {
    if (!report_to.empty()) {
      if (const auto written = core::write_file_atomic(report_to, text); !written) context.fail(written.error());
    } else if (is_report) {
      std::fwrite(text.data(), 1, text.size(), stderr);
    } else {
      context.print(text);
    }
  });
}

}  // namespace aaco::cli
