#include "workflows/side_by_side.h"

#include <algorithm>
#include <map>

#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/session/traced_devices.h"
#include "workflows/trace_work.h"

namespace aaco::workflows {
namespace {

using analytics::calltree::Tree;
using analytics::tracediff::Roles;

// From the first step's start to the last step's end, by rank; empty: the trace has no steps.
using Extents = std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>>;

struct LoadedTrace {
  std::string path;
  SideBySide::Side side;
  std::shared_ptr<const TraceWork> work;
};

core::Result<LoadedTrace> load_side(const std::string& name, const Services& services) {
  LoadedTrace loaded;
  AACO_ASSIGN(loaded.path, tracelake::find_session(services.paths.sessions, name));
  AACO_ASSIGN(const trace::SessionManifest manifest, tracelake::read_manifest(loaded.path));
  services.progress("reading " + manifest.id.text);
  loaded.side.id = manifest.id.text;
  loaded.side.devices = traced_devices(manifest.outcome.files);
  AACO_ASSIGN(loaded.work, load_trace_work(loaded.path));
  if (!loaded.work)
    return core::fail(core::ErrorCode::invalid_input, "session " + manifest.id.text + " has no GPU kernels to compare",
                      "give two imported traces or GPU profiles; without --kernels and --tree, diff compares other sessions too");
  loaded.side.has_steps = loaded.work->has_steps;
  loaded.side.steps = static_cast<std::int64_t>(loaded.work->steps.size());
  for (const auto& step : loaded.work->steps)
    for (const auto& call : step) loaded.side.kernel_ns += static_cast<double>(call.duration_ns);
  loaded.side.kernel_ns /= static_cast<double>(std::max<std::int64_t>(1, loaded.side.steps));
  return loaded;
}

// The operator that launches a kernel most of the time, and the kernel's family.
core::Result<Roles> roles_of(const std::string& path) {
  trace::NameTable names;
  std::map<std::string, std::map<std::string, std::int64_t>> causes;
  AACO_ASSIGN(const auto attributed, tracelake::read_table<trace::AttributionRow>(path, names));
  for (const auto& row : attributed) {
    const auto cause = names.text(row.operator_name.value != 0 ? row.operator_name : row.node_name);
    if (!cause.empty()) causes[std::string(names.text(row.kernel_name))][std::string(cause)] += row.kernel_sum_ns;
  }
  Roles roles;
  AACO_ASSIGN(const auto groups, tracelake::read_table<trace::KernelGroupRow>(path, names));
  for (const auto& row : groups) roles[std::string(names.text(row.kernel_name))].family = names.text(row.family);
  for (const auto& [kernel, times] : causes)
    roles[kernel].cause =
        std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  return roles;
}

core::Result<Extents> extents_of(const std::string& path, trace::NameTable& names) {
  Extents extents;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::IterationRow>(path, names));
  for (const auto& row : rows) {
    if (names.text(row.phase) != "step") continue;
    auto& extent = extents.try_emplace(row.rank, row.start_ns, row.start_ns).first->second;
    extent.first = std::min(extent.first, row.start_ns);
    extent.second = std::max(extent.second, row.start_ns + row.duration_ns);
  }
  return extents;
}

core::Result<Tree> tree_of(const std::string& path, const Services& services) {
  trace::NameTable names;
  AACO_ASSIGN(const Extents extents, extents_of(path, names));
  const auto inside = [&](std::int32_t rank, std::int64_t start_ns, bool device_work) {
    if (extents.empty()) return true;
    const auto extent = extents.find(rank);
    // Work launched in the last step may start after its end on the host.
    return extent != extents.end() && start_ns >= extent->second.first && (device_work || start_ns < extent->second.second);
  };
  analytics::calltree::TreeBuilder builder(names);
  AACO_TRY(tracelake::scan_table<trace::ApiCallRow>(path, names, [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
    for (const auto& row : rows)
      if (inside(row.rank, row.start_ns, false)) builder.add(row);
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "comparison interrupted");
    return {};
  }));
  AACO_TRY(tracelake::scan_table<trace::KernelRow>(path, names, [&](std::span<const trace::KernelRow> rows) -> core::Status {
    for (const auto& row : rows)
      if (inside(row.rank, row.start_ns, true)) builder.add(row);
    return {};
  }));
  return builder.finish();
}

std::string device_note(const SideBySide& sides) {
  if (sides.a.devices == sides.b.devices) return {};
  const auto known = [](const std::string& devices) { return devices.empty() ? std::string("unknown") : devices; };
  return "different devices: " + known(sides.a.devices) + " and " + known(sides.b.devices);
}

core::Json shown_side_json(const SideBySide::Side& side) {
  core::Json out = core::Json::object({{"id", side.id}});
  if (!side.devices.empty()) out.set("devices", side.devices);
  return out.set("has_steps", side.has_steps).set("steps", side.steps).set("kernel_ns", side.kernel_ns);
}

core::Json pair_side_json(const analytics::tracediff::KernelSide& side, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return core::Json::object({{"names", core::Json::texts(names)},
                             {"count", side.calls_per_step},
                             {"mean_ns", side.mean_ns},
                             {"total_ns", side.per_step_ns}});
}

core::Json pairs_json(const std::vector<analytics::tracediff::KernelPair>& pairs) {
  core::Json list = core::Json::array();
  for (const auto& pair : pairs) {
    core::Json entry = core::Json::object({{"match", to_string(pair.match)}});
    if (!pair.role.empty()) entry.set("role", pair.role);
    entry.set_if("baseline", pair_side_json(pair.a, pair.names_a)).set_if("candidate", pair_side_json(pair.b, pair.names_b));
    entry.set("delta_ns", pair.delta_ns);
    if (pair.a.per_step_ns > 0) entry.set("delta_ratio", pair.delta_ns / pair.a.per_step_ns);
    list.push(std::move(entry));
  }
  return list;
}

core::Json tree_json(const std::vector<analytics::calltree::DiffNode>& nodes) {
  const auto side = [](const analytics::calltree::Side& of) {
    return core::Json::object({{"count", of.calls}, {"host_ns", of.host_ns}, {"device_ns", of.device_ns}});
  };
  core::Json list = core::Json::array();
  for (const auto& node : nodes)
    list.push(core::Json::object({{"depth", node.depth},
                                  {"name", node.name},
                                  {"kind", node.kernel ? "kernel" : "call"},
                                  {"baseline", side(node.a)},
                                  {"candidate", side(node.b)},
                                  {"device_delta_ns", node.device_delta_ns},
                                  {"host_delta_ns", node.host_delta_ns}}));
  return list;
}

}  // namespace

core::Result<SideBySide> side_by_side(const SideBySideRequest& request, const Services& services) {
  AACO_ASSIGN(LoadedTrace a, load_side(request.baseline, services));
  AACO_ASSIGN(LoadedTrace b, load_side(request.candidate, services));
  SideBySide sides;
  sides.a = a.side;
  sides.b = b.side;
  if (std::string note = device_note(sides); !note.empty()) sides.notes.push_back(std::move(note));
  if (sides.a.has_steps != sides.b.has_steps)
    sides.notes.push_back("values of " + (sides.a.has_steps ? sides.a.id : sides.b.id) + " are per step, those of " +
                          (sides.a.has_steps ? sides.b.id : sides.a.id) + " are of the whole trace: it has no steps");
  if (a.work->cut || b.work->cut) sides.notes.emplace_back("only the first two million kernels of each trace were compared");
  if (request.kernels) {
    AACO_ASSIGN(const Roles of_a, roles_of(a.path));
    AACO_ASSIGN(const Roles of_b, roles_of(b.path));
    sides.kernels = pair_kernels(analytics::tracediff::compare(a.work->steps, b.work->steps), of_a, of_b);
  }
  if (request.tree) {
    AACO_ASSIGN(const Tree of_a, tree_of(a.path, services));
    AACO_ASSIGN(const Tree of_b, tree_of(b.path, services));
    if (of_a.truncated || of_b.truncated)
      sides.notes.emplace_back("the call trees have more paths than are kept: time of others counts for their callers");
    sides.tree = analytics::calltree::compare(of_a, static_cast<double>(sides.a.steps), of_b, static_cast<double>(sides.b.steps));
  }
  return sides;
}

core::Json to_json(const SideBySide& sides) {
  core::Json out = core::Json::object({{"schema_version", 1},
                                       {"baseline", shown_side_json(sides.a)},
                                       {"candidate", shown_side_json(sides.b)},
                                       {"same_device", sides.a.devices == sides.b.devices && !sides.a.devices.empty()}});
  if (sides.kernels) out.set("kernels", pairs_json(*sides.kernels));
  if (sides.tree) out.set("tree", tree_json(*sides.tree));
  return out.set("notes", core::Json::texts(sides.notes));
}

}  // namespace aaco::workflows
