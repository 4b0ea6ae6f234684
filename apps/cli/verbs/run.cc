#include "workflows/run.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/session_output.h"
#include "workflows/isolation.h"

namespace aaco::cli {

void add_run(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("run", "Run a model and keep the evidence: where did its time go");
  auto options = std::make_shared<RunOptions>(*verb);
  auto json = std::make_shared<bool>(false);
  auto no_report = std::make_shared<bool>(false);
  verb->add_option("-o,--out", context.paths.sessions, "Root folder of the sessions (the same as --sessions)");
  verb->add_flag("--json", *json, "Print one JSON object instead of the report");
  verb->add_flag("--no-report", *no_report, "Write no page");
  verb->footer(
      "Ctrl-C ends the measurement early: what was measured is kept and judged, the session is marked interrupted, the exit code "
      "is 0. A second one ends the program at once and leaves the session incomplete.\nExamples:\n  aaco run --model resnet50 "
      "--telemetry --profile\n  aaco run net.onnx --batch 8 --precision 0.5%\n  aaco run "
      "--model gpt2 --dim sequence=64 --threads 1\n  aaco run --model squeezenet --isolate standard");
  verb->callback([&context, options, json, no_report] {
    const auto request = options->resolve();
    if (!request) return context.fail(request.error());
    workflows::restart_for(request->isolation, make_services(context));
    finish_session(context, workflows::run(*request, make_services(context)), *json, *no_report);
  });
}

}  // namespace aaco::cli
