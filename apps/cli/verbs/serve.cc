#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/server_options.h"

namespace aaco::cli {

void add_serve(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("serve", "Serve the sessions over HTTP: REST API, Prometheus metrics, dashboard");
  auto request = std::make_shared<server::ServeRequest>();
  add_serve_options(*verb, *request);
  verb->footer(
      "Example:\n  aaco serve --token-file token &\n  curl -H \"Authorization: Bearer $(cat token)\" "
      "http://127.0.0.1:8501/api/v1/sessions\n\nThe API is described at /api/v1/openapi.json and in docs/how_to/serve.md. The "
      "access "
      "log on standard error has one line of JSON per request; --quiet switches it off.");
  verb->callback([&context, request] { serve(context, *request); });
}

}  // namespace aaco::cli
