#include "workflows/zoo.h"

#include "core/files.h"
#include "core/numbers.h"
#include "runner/registry.h"
#include "runner/zoo.h"

namespace aaco::workflows {

core::Result<std::vector<ZooLine>> list_zoo(const Services& services) {
  std::vector<ZooLine> lines;
  for (const auto& entry : runner::zoo::list()) {
    AACO_ASSIGN(const auto blueprint, runner::zoo::build_graph(entry, {}));
    ZooLine line;
    line.name = entry.name;
    line.title = entry.meaning;
    line.parameters = blueprint.parameters;
    line.path = runner::zoo::made_path(entry, {}, 1, services.paths.cache).value_or("");
    lines.push_back(std::move(line));
  }
  return lines;
}

core::Result<std::string> make_zoo_model(const std::string& name, std::uint64_t seed, const Services& services) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  AACO_ASSIGN(const auto config, registry.model(name));
  if (!config.from_zoo())
    return core::fail(core::ErrorCode::invalid_argument, "'" + name + "' is a file, not a zoo model",
                      "'aaco zoo ls' lists the zoo models");
  AACO_ASSIGN(const auto request, runner::zoo::parse_request(config.zoo_request()));
  return runner::zoo::make(*request.entry, request.config, seed, services.paths.cache,
                           [&](std::int64_t done, std::int64_t total) {
                             services.progress("building " + name + ": " + core::format_bytes(static_cast<double>(done)) +
                                               " of " + core::format_bytes(static_cast<double>(total)));
                           });
}

}  // namespace aaco::workflows
