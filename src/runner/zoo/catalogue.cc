#include <algorithm>

#include "core/check.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "runner/zoo/families.h"

namespace aaco::runner::zoo {
namespace {

using core::ErrorCode;
using core::fail;

}  // namespace

core::Result<const Entry*> find(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : list()) {
    if (entry.name == name || std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end()) return &entry;
    names.emplace_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  const std::string_view near = core::nearest(name, names);
  return fail(ErrorCode::not_found, "the zoo has no model '" + std::string(name) + "'",
              near.empty() ? "'aaco zoo ls' lists the models"
                           : "did you mean " + std::string(near) + "? ('aaco zoo ls' lists all models)");
}

std::int64_t Entry::value(const Config& config, std::string_view parameter_name) const {
  if (const auto given = config.values.find(std::string(parameter_name)); given != config.values.end()) return given->second;
  const auto known = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == parameter_name; });
  AACO_CHECK(known != parameters.end());
  return known->value;
}

core::Result<Request> parse_request(std::string_view text) {
  const std::vector<std::string_view> fields = core::split(text, ',');
  Request request;
  AACO_ASSIGN(request.entry, find(core::trim(fields.front())));
  for (std::size_t index = 1; index < fields.size(); ++index) {
    const std::vector<std::string_view> pair = core::split(fields[index], '=');
    if (pair.size() != 2)
      return fail(ErrorCode::invalid_argument, "'" + std::string(fields[index]) + "' is not NAME=VALUE",
                  "for example " + request.entry->name + ",dtype=float16");
    const std::string key(core::trim(pair[0]));
    if (key == "dtype") {
      const auto type = graph::element_type_from_string(core::trim(pair[1]));
      if (!type)
        return fail(ErrorCode::invalid_argument, "'" + std::string(pair[1]) + "' is not an element type",
                    "use float32 or float16");
      request.config.type = *type;
      continue;
    }
    const auto value = core::parse_i64(pair[1]);
    if (!value)
      return fail(ErrorCode::invalid_argument, "the value of '" + key + "' is not an integer: '" + std::string(pair[1]) + "'");
    request.config.values[key] = *value;
  }
  return request;
}

core::Result<Blueprint> build_graph(const Entry& entry, const Config& config) {
  if (config.type != ElementType::float32 && config.type != ElementType::float16)
    return fail(ErrorCode::unsupported,
                entry.name + ": the zoo provides float32 and float16 models, not " + std::string(graph::to_string(config.type)));
  for (const auto& [name, value] : config.values) {
    const auto known = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                    [&name = name](const Parameter& parameter) { return parameter.name == name; });
    if (known == entry.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : entry.parameters) names.push_back(parameter.name);
      return fail(ErrorCode::invalid_argument, entry.name + " has no parameter '" + name + "'",
                  names.empty() ? "" : "it has " + core::join(names, ", "));
    }
    if (value < known->minimum || value > known->maximum)
      return fail(ErrorCode::invalid_argument, entry.name + ": " + name + " is " + std::to_string(value) + ", must be between " +
                                                   std::to_string(known->minimum) + " and " + std::to_string(known->maximum));
  }
  AACO_ASSIGN(Blueprint made, entry.build(entry, config));
  made.graph.metadata["aaco.zoo"] = entry.name;
  return made;
}

TensorId image_input(Builder& b, const Entry& entry, const Config& config) {
  const std::int64_t size = entry.value(config, "size");
  return b.input("input", config.type, {"batch", 3, size, size});
}

Blueprint finish_classifier(Builder&& b, TensorId logits, std::int64_t number_of_classes) {
  b.output(logits, "output", b.type(), {"batch", number_of_classes});
  return std::move(b).finish();
}

}  // namespace aaco::runner::zoo
