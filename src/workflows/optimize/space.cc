#include "workflows/optimize/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/strings.h"
#include "core/yaml.h"
#include "workflows/run_config.h"

namespace aaco::workflows {
namespace {

using analytics::configsearch::Configuration;
using core::ErrorCode;

constexpr std::size_t kMaxConfigurations = 1'000'000;
constexpr const char* kBaselineValue = "baseline";

std::string resolved_number(const std::string& text, int cpus) {
  if (text == "cpus") return std::to_string(cpus);
  if (text == "half") return std::to_string(std::max(1, cpus / 2));
  return text;
}

core::Result<AxisValue> read_value(const core::YamlNode& node, const std::optional<std::string>& key, int cpus) {
  AxisValue value;
  if (node.is_mapping()) {
    AACO_TRY(node.only_keys({"id", "set"}));
    AACO_ASSIGN(value.id, node.require_string("id"));
    AACO_ASSIGN(const core::YamlNode* set, node.require("set"));
    if (!set->is_mapping()) return set->error("'set' must be a mapping of run options");
    for (const auto& [name, text] : set->entries()) {
      AACO_ASSIGN(const std::string word, text.as_string());
      value.set[name.scalar()] = resolved_number(word, cpus);
    }
  } else {
    if (!key) return node.error("a plain value requires the axis to have a 'key'");
    AACO_ASSIGN(const std::string word, node.as_string());
    value.id = resolved_number(word, cpus);
    value.set[*key] = value.id;
  }
  // A wrong key or value is an error of the file, not of a trial.
  RunRequest probe;
  for (const auto& [name, text] : value.set)
    if (auto done = set_run_option(probe, name, text); !done)
      return tl::unexpected<core::Error>(std::move(done).error().with(node.where()));
  return value;
}

// `objectives`: those that the axis is limited to; empty: none.
std::string absence(const std::vector<std::string>& objectives, const std::string& id, const SpaceContext& context) {
  if (!objectives.empty() && std::find(objectives.begin(), objectives.end(), context.objective) == objectives.end())
    return "only with --for " + core::join(objectives, " or --for ");
  if (id == "batch" && !context.batch_is_free) return "the model has a fixed batch size";
  return {};
}

core::Result<Axis> read_axis(const core::YamlNode& node, const SpaceContext& context) {
  AACO_TRY(node.only_keys({"id", "explain", "key", "values", "unless", "for"}));
  Axis axis;
  AACO_ASSIGN(axis.id, node.require_string("id"));
  AACO_ASSIGN(const auto explain, node.optional_string("explain"));
  axis.explain = explain.value_or("");
  AACO_ASSIGN(const auto key, node.optional_string("key"));
  axis.values.push_back({kBaselineValue, {}});
  std::vector<std::string> objectives;
  if (const core::YamlNode* limited = node.find("for"); limited != nullptr && limited->is_sequence()) {
    AACO_ASSIGN(objectives, limited->as_strings());
  } else if (limited != nullptr) {
    objectives = {limited->scalar()};
  }
  axis.reason_absent = absence(objectives, axis.id, context);
  AACO_ASSIGN(const core::YamlNode* values, node.require("values"));
  if (!values->is_sequence()) return values->error("'values' must be a list");
  std::set<std::string> seen;
  bool idle = false;
  std::string missing;
  for (const core::YamlNode& one : values->items()) {
    AACO_ASSIGN(AxisValue value, read_value(one, key, context.cpus));
    if (value.id == kBaselineValue) return one.error("'baseline' is the name of the value an axis starts with");
    const auto rewrite = value.set.find("rewrite");
    idle = rewrite != value.set.end() && context.idle_rewrites.contains(rewrite->second);
    const auto backend = value.set.find("backend");
    const auto absent =
        backend == value.set.end() ? context.absent_backends.end() : context.absent_backends.find(backend->second);
    if (absent != context.absent_backends.end()) missing = absent->second;
    if (axis.reason_absent.empty() && !idle && absent == context.absent_backends.end() && seen.insert(value.id).second)
      axis.values.push_back(std::move(value));
  }
  if (idle && axis.values.size() == 1 && axis.reason_absent.empty()) axis.reason_absent = "finds nothing to change in this model";
  if (!missing.empty() && axis.values.size() == 1 && axis.reason_absent.empty()) axis.reason_absent = missing;
  if (const core::YamlNode* unless = node.find("unless")) {
    AACO_ASSIGN(axis.unless, unless->as_strings());
  }
  return axis;
}

}  // namespace

std::vector<std::size_t> Space::sizes() const {
  std::vector<std::size_t> sizes;
  for (const Axis& axis : axes) sizes.push_back(axis.values.size());
  return sizes;
}

std::vector<Configuration> Space::candidates() const {
  auto all = analytics::configsearch::grid(sizes(), kMaxConfigurations).value_or(std::vector<Configuration>());
  std::erase_if(all, [&](const Configuration& one) {
    auto here = values(one);
    for (const auto& [axis, value] : fixed) here[axis] = value;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (one[i] == 0) continue;
      for (const std::string& conflict : axes[i].unless) {
        const auto equals = conflict.find('=');
        if (equals == std::string::npos) continue;
        const auto found = here.find(conflict.substr(0, equals));
        if ((found == here.end() ? std::string(kBaselineValue) : found->second) == conflict.substr(equals + 1)) return true;
      }
    }
    return false;
  });
  return all;
}

std::map<std::string, std::string> Space::values(const Configuration& configuration) const {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (configuration[i] != 0) out[axes[i].id] = axes[i].values[configuration[i]].id;
  return out;
}

std::string Space::name(const Configuration& configuration) const {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (configuration[i] != 0) text += (text.empty() ? "" : " ") + axes[i].id + "=" + axes[i].values[configuration[i]].id;
  return text.empty() ? kBaselineValue : text;
}

core::Result<RunRequest> Space::apply(const Configuration& configuration, const RunRequest& base) const {
  RunRequest request = base;
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (const auto& [key, value] : axes[i].values[configuration[i]].set) AACO_TRY(set_run_option(request, key, value));
  return request;
}

core::Result<Space> load_space(const std::string& path, const SpaceContext& context) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "axes"}));
  AACO_ASSIGN(const std::int64_t version, root.require_i64("schema_version"));
  if (version != 1) return root.error(fmt::format("schema version {} is not supported, expected 1", version));
  AACO_ASSIGN(const core::YamlNode* axes, root.require("axes"));
  if (!axes->is_sequence() || axes->items().empty()) return axes->error("'axes' must be a list with at least one axis");
  Space space;
  std::set<std::string> seen;
  for (const core::YamlNode& node : axes->items()) {
    AACO_ASSIGN(Axis axis, read_axis(node, context));
    if (!seen.insert(axis.id).second) return node.error("the axis '" + axis.id + "' is given more than once");
    space.axes.push_back(std::move(axis));
  }
  if (!analytics::configsearch::grid(space.sizes(), kMaxConfigurations))
    return axes->error(fmt::format("the space has more than {} configurations", kMaxConfigurations), "remove axes or values");
  return space;
}

void keep_axes(Space& space, const std::vector<std::string>& ids) {
  for (Axis& axis : space.axes) {
    if (std::find(ids.begin(), ids.end(), axis.id) != ids.end()) continue;
    axis.values = {AxisValue{kBaselineValue, {}}};
    if (axis.reason_absent.empty()) axis.reason_absent = "not part of the advice";
  }
}

core::Status fix_axis(Space& space, const std::string& id, const std::string& value, RunRequest& base) {
  const auto axis = std::find_if(space.axes.begin(), space.axes.end(), [&](const Axis& one) { return one.id == id; });
  if (axis == space.axes.end()) {
    std::vector<std::string> ids;
    for (const Axis& one : space.axes) ids.push_back(one.id);
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + id + "=" + value + "' for '--fix': unknown axis '" + id + "'",
                      "axes: " + core::join(ids, ", "));
  }
  const auto found =
      std::find_if(axis->values.begin(), axis->values.end(), [&](const AxisValue& one) { return one.id == value; });
  if (found == axis->values.end()) {
    std::vector<std::string> ids;
    for (const AxisValue& one : axis->values) ids.push_back(one.id);
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + id + "=" + value + "' for '--fix': unknown value '" + value + "'",
                      "values of " + id + ": " + core::join(ids, ", "));
  }
  for (const auto& [key, text] : found->set) AACO_TRY(set_run_option(base, key, text));
  space.fixed[id] = value;
  axis->values = {AxisValue{kBaselineValue, {}}};
  axis->reason_absent = "fixed at " + value;
  return {};
}

core::Status drop_unchanged(Space& space, const RunRequest& base) {
  const std::string text = run_config_text(base);
  for (Axis& axis : space.axes) {
    if (axis.values.size() < 2) continue;
    std::vector<AxisValue> kept{axis.values.front()};
    for (std::size_t i = 1; i < axis.values.size(); ++i) {
      RunRequest changed = base;
      for (const auto& [key, value] : axis.values[i].set) AACO_TRY(set_run_option(changed, key, value));
      if (changed.rewrites != base.rewrites || run_config_text(changed) != text) kept.push_back(axis.values[i]);
    }
    if (kept.size() == 1 && axis.reason_absent.empty()) axis.reason_absent = "the baseline has this value";
    axis.values = std::move(kept);
  }
  return {};
}

}  // namespace aaco::workflows
