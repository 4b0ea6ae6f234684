#include "workflows/run.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/session_output.h"
#include "workflows/isolation.h"

namespace aaco::cli {

void add_run(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("run", "Run a model and show where its time goes");
  auto options = std::make_shared<RunOptions>(*verb);
  auto json = std::make_shared<bool>(false);
  auto no_report = std::make_shared<bool>(false);
  verb->add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  verb->add_flag("--json", *json, "Print JSON instead of the report");
  verb->add_flag("--no-report", *no_report, "Do not write the HTML page");
  verb->footer(
      "Ctrl-C ends the measurement early: the data collected is kept and analysed, the session is marked interrupted and the "
      "exit\n"
      "code is 0. A second Ctrl-C terminates immediately and leaves the session incomplete.\n\n"
      "Examples:\n  aaco run --model resnet50 --telemetry --profile\n  aaco run net.onnx --batch 8 --precision 0.5%\n  aaco run "
      "--model gpt2 --dim sequence=64 --threads 1\n  aaco run --model squeezenet --isolate standard");
  verb->callback([&context, options, json, no_report] {
    auto request = options->resolve();
    if (!request) return context.fail(request.error());
    workflows::restart_for(request->isolation, make_services(context));
    if (const auto entered = enter_build(*request, context); !entered) return context.fail(entered.error());
    finish_session(context, workflows::run(*request, make_services(context)), *json, *no_report);
  });
}

}  // namespace aaco::cli
