#include "workflows/model_source.h"

#include "runner/registry.h"
#include "runner/zoo.h"

namespace aaco::workflows {

core::Result<graph::Model> open_model(const std::string& name, const graph::Bindings& dimensions, const Services& services,
                                      const graph::ShapeOptions& options) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  AACO_ASSIGN(const auto config, registry.model(name));
  if (!config.from_zoo()) return graph::open_model(config.path, dimensions, options);
  AACO_ASSIGN(const auto request, runner::zoo::parse_request(config.zoo_request()));
  AACO_ASSIGN(auto blueprint, runner::zoo::build_graph(*request.entry, request.config));
  return graph::prepare(std::move(blueprint.graph), dimensions, options);
}

}  // namespace aaco::workflows
