#include "workflows/export.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/stop_at_once.h"

namespace aaco::cli {

void add_export(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "export", "Export a session's timeline for Perfetto or Chrome, its tables as CSV, or its metrics as Prometheus text");
  auto request = std::make_shared<workflows::ExportRequest>();
  verb->add_option("session", request->session, "Session")->capture_default_str();
  verb->add_option("-f,--format", request->format, "Output format")
      ->check(CLI::IsMember({"perfetto", "chrome", "csv", "prometheus"}))
      ->capture_default_str();
  verb->add_option("-o,--output", request->output,
                   "Output file, or folder for csv (default: named after the session, in the current folder)");
  verb->footer("Open .perfetto-trace files at ui.perfetto.dev, and .json files there or in chrome://tracing.");
  verb->callback([&context, request] {
    stop_at_once();
    const auto written = workflows::export_session(*request, context.paths);
    if (!written) return context.fail(written.error());
    context.print(*written + "\n");
  });
}

}  // namespace aaco::cli
