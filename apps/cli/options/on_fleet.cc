#include "cli/options/on_fleet.h"

#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "cli/options/run_options.h"

namespace aaco::cli {

void add_on_fleet(CLI::App& verb, std::string& on) {
  verb.add_option("--on", on,
                  "Sessions of this fleet instead of the local ones: clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->type_name("FLEET");
}

core::Result<workflows::Services> services_on(const std::string& on, const workflows::FleetChoice& choice, Context& context) {
  auto services = make_services(context);
  if (on.empty()) return services;
  AACO_ASSIGN(auto lake, workflows::copy_from_fleet(on, choice, services));
  for (const std::string& server : lake.missing)
    context.note("warning: " + server + " cannot be reached: its sessions are missing");
  for (const std::string& note : lake.notes) context.note("note: " + note);
  return std::move(lake.services);
}

}  // namespace aaco::cli
