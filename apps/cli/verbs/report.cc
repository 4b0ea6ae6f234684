#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <vector>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/session_output.h"
#include "core/files.h"
#include "core/strings.h"
#include "report/render.h"
#include "report/render_svg.h"
#include "workflows/session_report.h"

namespace aaco::cli {
namespace {

struct ReportOptions {
  std::string session = "latest";
  std::string format = "text";
  std::string output;
  std::string table = "metrics";
  std::string plot = "latency";
};

core::Result<std::string> render(const ReportOptions& options, const report::ReportModel& model, const Context& context) {
  if (options.format == "json") return render_json(model).dump() + "\n";
  if (options.format == "markdown" || options.format == "md") return render_markdown(model);
  if (options.format == "csv") return render_csv(model, options.table);
  if (options.format == "svg") return render_svg(model, options.plot);
  if (options.format == "pdf") return workflows::print_page(model, make_services(context));
  return workflows::render_page(model, context.paths);
}

template <std::size_t N>
std::string names_of(const std::array<std::string_view, N>& names) {
  return core::join(std::vector<std::string_view>(names.begin(), names.end()), ", ");
}

void report_session(Context& context, const ReportOptions& options) {
  if (options.format == "pdf" && options.output.empty() && ::isatty(STDOUT_FILENO) == 1)
    return context.fail({core::ErrorCode::invalid_argument, "a PDF cannot be shown on a terminal", "add -o report.pdf", {}});
  auto model = workflows::load_report_by_name(options.session, context.paths);
  if (!model) return context.fail(model.error());
  if (options.format == "html" || options.format == "pdf")
    if (const auto added = workflows::add_page_parts_by_name(*model, options.session, context.paths); !added)
      return context.fail(added.error());
  if (options.format == "text" && options.output.empty()) return print_report(context, *model, false);
  const auto bytes = options.format == "text" ? core::Result<std::string>(render_text(*model, {context.width, false, true}))
                                              : render(options, *model, context);
  if (!bytes) return context.fail(bytes.error());
  if (options.output.empty() || options.output == "-") return context.print(*bytes);
  if (auto written = core::write_file_atomic(options.output, *bytes); !written) return context.fail(written.error());
  context.note("wrote " + options.output);
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("report", "Show a session as text, HTML page, PDF, JSON, Markdown, CSV or plot");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("session,--session", options->session, "Session")->capture_default_str();
  verb->add_option_function<std::string>(
          "-f,--format", [options](const std::string& format) { options->format = format == "terminal" ? "text" : format; },
          "Output format; terminal is the same as text, pdf requires Chromium")
      ->check(CLI::IsMember({"text", "html", "json", "markdown", "md", "csv", "svg", "terminal", "pdf"}))
      ->default_str("text");
  verb->add_option("-o,--output", options->output, "Output file (default: standard output)");
  verb->add_option("--table", options->table, "Table for csv: " + names_of(report::kCsvTables))->capture_default_str();
  verb->add_option("--plot", options->plot, "Plot for svg: " + names_of(report::kSvgPlots))->capture_default_str();
  verb->add_option_function<std::string>(
      "--html",
      [options](const std::string& file) {
        options->format = "html";
        options->output = file;
      },
      "Write the HTML page to FILE");
  verb->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "Same as --format json");
  verb->callback([&context, options] { report_session(context, *options); });
}

}  // namespace aaco::cli
