#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/server_options.h"

namespace aaco::cli {

void add_dashboard(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("dashboard", "Show the sessions in a browser: the same as 'serve', with a one-time link");
  auto request = std::make_shared<server::ServeRequest>();
  request->one_time_link = true;
  add_serve_options(*verb, *request);
  verb->footer(
      "Example:\n  aaco dashboard --port 8501\n\nOn a remote machine, forward the port and open the link locally:\n  ssh -L "
      "8501:127.0.0.1:8501 HOST aaco dashboard");
  verb->callback([&context, request] { serve(context, *request); });
}

}  // namespace aaco::cli
