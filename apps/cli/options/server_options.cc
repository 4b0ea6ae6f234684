#include "cli/options/server_options.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"

namespace aaco::cli {

void add_serve_options(CLI::App& verb, server::ServeRequest& request) {
  verb.add_option("-p,--port", request.port, "TCP port; 0 picks a free one")
      ->check(whole_number(0, 65'535, "PORT"))
      ->capture_default_str();
  verb.add_option("--address", request.address, "IP address to listen on")->capture_default_str();
  verb.add_option("--host-name", request.host_names, "Host name that clients may use besides localhost (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option(
          "--token-file", request.token_file,
          "Read the token from FILE, or create FILE with a new one (default: a file that is removed when the server stops)")
      ->type_name("FILE");
  verb.add_option("--policy", request.policy_file,
                  "What clients may start (default: ~/.config/aaco/server.yaml, then the shipped configs/server.yaml)")
      ->type_name("FILE");
  verb.add_option("--fleet", request.fleet,
                  "Show this fleet: folder of telemetry, clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->type_name("FLEET");
  verb.add_option("--tls-cert", request.tls_certificate, "Certificate chain in PEM format: serve HTTPS")->type_name("FILE");
  verb.add_option("--tls-key", request.tls_key, "Private key of the certificate in PEM format")->type_name("FILE");
  verb.add_flag("--insecure", request.insecure, "Allow addresses beyond loopback without TLS");
}

void serve(Context& context, const server::ServeRequest& request) {
  workflows::Services services = make_services(context);
  services.progress = [](std::string_view) {};  // handlers run on other threads, and the terminal shows the access log
  const auto web = server::Server::open(request, services, [&context](std::string_view line) { context.note(line); });
  if (!web) return context.fail(web.error());
  const server::Listening& listening = (*web)->listening();
  context.print((listening.link.empty() ? listening.url : listening.link) + "\n");
  context.flush();
  if (!listening.link.empty()) context.note("open the link above in a browser; it works once. Ctrl-C stops the server");
  context.note("sessions    " + context.paths.sessions + "\ntoken file  " + listening.token_file);
  if (!listening.no_jobs.empty()) context.note("no jobs     " + listening.no_jobs);
  (*web)->run();
}

}  // namespace aaco::cli
