#include "cli/output/session_output.h"

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "core/files.h"
#include "report/render.h"
#include "workflows/session_report.h"

namespace aaco::cli {

using core::Json;

Json session_json(const workflows::SessionOutcome& outcome) {
  Json accounts = Json::array();
  for (const auto& account : outcome.manifest.accounts) accounts.push(to_json(account));
  return Json::object({{"schema_version", 1},
                       {"session", Json::object({{"id", outcome.manifest.id.text},
                                                 {"path", outcome.path},
                                                 {"kind", outcome.manifest.kind},
                                                 {"state", outcome.manifest.state},
                                                 {"tag", outcome.manifest.tag},
                                                 {"fingerprint", outcome.manifest.fingerprint}})},
                       {"outcome", trace::to_json(outcome.manifest.outcome)},
                       {"account", std::move(accounts)},
                       {"warnings", to_json(outcome.manifest.warnings)},
                       {"metrics", to_json(outcome.metrics)}});
}

void print_report(Context& context, const report::ReportModel& model, bool brief) {
  report::TextOptions options;
  options.width = context.width;
  options.colour = context.colour;
  options.brief = brief;
  const std::string locale = context.environment.get("LC_ALL").value_or(
      context.environment.get("LC_CTYPE").value_or(context.environment.get("LANG").value_or("C.UTF-8")));
  options.unicode = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  context.print(render_text(model, options));
}

void finish_session(Context& context, const core::Result<workflows::SessionOutcome>& outcome, bool json, bool no_report) {
  if (!outcome) return context.fail(outcome.error());
  context.progress("writing the report");
  auto model = workflows::load_report(outcome->path, context.paths);
  if (!model) return context.fail(model.error());
  std::string page;
  if (!no_report) {
    auto written = workflows::write_page(*model, outcome->path, context.paths);
    if (written)
      page = *written;
    else
      context.note("report page not written: " + written.error().text());
  }
  context.progress("");
  if (json) return context.print_json(session_json(*outcome));
  if (context.quiet) return context.print(outcome->manifest.id.text + "\n");
  print_report(context, *model, true);
  context.note(fmt::format("\nsession  {}\nfolder   {}", outcome->manifest.id.text, outcome->path));
  if (!page.empty()) context.note("page     " + page);
  context.note("more     aaco report " + outcome->manifest.id.text);
}

}  // namespace aaco::cli
