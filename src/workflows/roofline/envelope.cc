#include "workflows/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/numbers.h"
#include "core/strings.h"
#include "trace/session_kind.h"
#include "tracelake/bundle.h"
#include "workflows/hardware.h"
#include "workflows/run_work.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::EnvelopePoint;
using report::Roof;
using report::RoofPoint;

constexpr std::size_t kDrawnPoints = 300;
constexpr std::size_t kMain = 0, kCached = 1;  // memory levels of the fit

struct Group {
  DeviceEnvelope device;
  std::set<std::string> workloads;
  std::vector<std::pair<std::size_t, RoofPoint>> points;  // with the number of their run
};
using Groups = std::map<std::pair<std::string, std::int64_t>, Group>;  // by device and threads

// What ran, whichever machine or build it ran on.
std::string workload_of(const trace::SessionManifest& manifest) {
  const auto model = manifest.outcome.model;
  if (model.empty()) return manifest.id.text;
  return fmt::format("{} {}", model, manifest.outcome.inputs.dump(-1));
}

core::Result<std::vector<tracelake::SessionEntry>> chosen(const EnvelopeRequest& request, const Services& services) {
  std::vector<tracelake::SessionEntry> entries;
  if (request.sessions.empty()) {
    AACO_ASSIGN(entries, tracelake::list_sessions(services.paths.sessions));
    std::erase_if(entries, [&](const auto& entry) {
      return !is_meant(entry.manifest, request.where, entry.noted_tags) || trace::is_summary_kind(entry.manifest.kind);
    });
  }
  std::set<std::string> seen;
  for (const std::string& name : request.sessions) {
    AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
    AACO_ASSIGN(auto manifest, tracelake::read_manifest(path));
    // A run that is named twice is still one run.
    if (seen.insert(manifest.id.text).second) entries.push_back({path, std::move(manifest), {}});
  }
  if (request.last && entries.size() > *request.last)
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(*request.last));
  return entries;
}

core::Status collect(const EnvelopeRequest& request, const std::string& device, Groups& groups, trace::Account& account,
                     const Services& services) {
  AACO_ASSIGN(const auto entries, chosen(request, services));
  for (const auto& entry : entries) {
    const auto& manifest = entry.manifest;
    if (manifest.state != "complete" && manifest.state != "interrupted") {
      account.drop("session is incomplete");
      continue;
    }
    services.progress("reading " + manifest.id.text);
    auto work = run_work(entry.path, manifest);
    if (!work) {
      account.drop("tables not readable");
      continue;
    }
    const bool known = !work->empty();
    std::erase_if(*work, [&](const RunWork& one) { return !device.empty() && one.device_id != device; });
    if (work->empty()) {
      account.drop(known ? "ran on another device"
                         : "no known FLOPs and bytes (run with --profile on a machine in the hardware registry, or import with "
                           "shapes or counters)");
      continue;
    }
    account.keep();
    for (RunWork& one : *work) {
      Group& group = groups[{one.device_id, one.threads}];
      group.device.id = one.device_id;
      group.device.name = one.device_name;
      group.device.threads = one.threads;
      for (RoofPoint& point : one.points) group.points.emplace_back(group.device.sessions.size(), std::move(point));
      group.device.sessions.push_back(manifest.id.text);
      group.workloads.insert(workload_of(manifest));
    }
  }
  return {};
}

EnvelopeRoof compute_roof(const std::string& type, const std::optional<DeviceRoofs>& known) {
  EnvelopeRoof roof;
  roof.name = type;
  if (!known) return roof;
  roof.stated = known->stated_flops_per_s(type);
  if (const auto* measured = known->measured(type, "")) roof.measured = *measured;
  return roof;
}

EnvelopeRoof memory_roof(std::size_t level, const std::optional<DeviceRoofs>& known) {
  EnvelopeRoof roof;
  roof.kind = Roof::Kind::memory;
  roof.name = level == kCached ? "cached" : "main memory";
  if (!known) return roof;
  if (level == kMain) {
    roof.stated = known->stated_bytes_per_s();
    roof.measured = known->main;
    return roof;
  }
  roof.measured = known->cached;
  if (const auto* cache = known->device.last_level(); cache != nullptr && cache->bytes_per_s)
    roof.stated = cache->bytes_per_s->value;
  return roof;
}

void note_device(DeviceEnvelope& device, const core::Result<DeviceRoofs>& known) {
  if (!known) {
    device.notes.push_back(
        "no longer in the hardware registry: no stated or measured ceilings, and all operands are attributed to main memory");
    return;
  }
  device.calibration = known->calibration;
  if (!known->problem.empty()) device.notes.push_back("calibration not readable: " + known->problem);
  const double units = known->device.units().value_or(0);
  if (device.threads > 0)
    device.notes.push_back(fmt::format("these runs used {} thread{}; stated and measured ceilings are for all {:.0f} cores",
                                       device.threads, device.threads == 1 ? "" : "s", units));
  if (known->cache_bytes > 0)
    device.notes.push_back(fmt::format(
        "\"cached\": the operands of each execution fit in the shared cache ({}); bytes from counters are main memory traffic",
        core::format_bytes(known->cache_bytes)));
}

// A session may name any number of types; a fit of thousands of roofs would never end.
void keep_main_types(Group& group, DeviceEnvelope& device) {
  constexpr std::size_t kMaxTypes = 16;
  std::map<std::string, double> time;
  for (const auto& [run, point] : group.points) time[point.type] += std::max(point.time_ns, 0.0);
  if (time.size() <= kMaxTypes) return;
  std::vector<double> sums;
  for (const auto& [type, sum] : time) sums.push_back(sum);
  std::nth_element(sums.begin(), sums.begin() + kMaxTypes, sums.end(), std::greater<>());
  const std::size_t before = group.points.size();
  std::erase_if(group.points, [&](const auto& one) { return !(time[one.second.type] > sums[kMaxTypes]); });
  device.notes.push_back(
      fmt::format("{} points of {} minor data types were omitted", before - group.points.size(), time.size() - kMaxTypes));
}

void note_beyond(DeviceEnvelope& device) {
  constexpr double kBeyond = 1.05;
  for (const EnvelopeRoof& roof : device.roofs)
    if (roof.stated && roof.reached.per_second.value_or(0) > kBeyond * *roof.stated)
      device.notes.push_back(fmt::format("{} exceeds the stated value; possible causes: {}", roof.name,
                                         roof.kind == Roof::Kind::compute
                                             ? "algorithms with fewer operations (Winograd), a clock above the stated one, or a "
                                               "registry entry measured under load"
                                             : "operands served from a closer cache, or a registry entry measured under load"));
}

DeviceEnvelope fit(Group group, const EnvelopeRequest& request, const Services& services) {
  DeviceEnvelope out = std::move(group.device);
  const auto found = device_roofs(out.id, services.paths);
  const auto known = found ? std::optional(*found) : std::nullopt;
  note_device(out, found);
  keep_main_types(group, out);
  std::map<std::string, std::size_t> types;
  for (const auto& [run, point] : group.points) types.try_emplace(point.type, 0);
  std::size_t next = 0;
  for (auto& [type, number] : types) number = next++;
  std::vector<EnvelopePoint> points;
  for (const auto& [run, point] : group.points) {
    const bool counted = point.work_from == "counters";
    const double each = point.bytes / static_cast<double>(std::max<std::int64_t>(point.count, 1));
    const std::size_t level = known && !counted && known->fits_cache(each) ? kCached : kMain;
    points.push_back({run, types[point.type], level, point.flops, point.bytes, point.time_ns});
    out.counted += counted ? 1 : 0;
  }
  const auto envelope = analytics::roofline::fit_envelope(points, types.size(), 2, request.options);
  out.all = group.points.size();
  out.workloads = group.workloads.size();
  out.above_ratio = envelope.above_ratio;
  for (const auto& [type, number] : types) {
    EnvelopeRoof roof = compute_roof(type, known);
    roof.reached = envelope.compute[number];
    if (roof.reached.highest > 0) out.roofs.push_back(std::move(roof));
    if (auto corners = upper_hull(points, number); !corners.empty()) out.hulls.push_back({type, std::move(corners)});
  }
  for (const std::size_t level : {kCached, kMain}) {
    EnvelopeRoof roof = memory_roof(level, known);
    roof.reached = envelope.memory[level];
    if (roof.reached.highest > 0 || level == kMain) out.roofs.push_back(std::move(roof));
  }
  note_beyond(out);
  for (auto& [run, point] : group.points) out.points.push_back(std::move(point));
  std::stable_sort(out.points.begin(), out.points.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  if (out.points.size() > kDrawnPoints) out.points.resize(kDrawnPoints);
  if (known)
    for (const Roof& roof : known->roofs(work_of(out.points))) out.stated_roofs.push_back(roof);
  return out;
}

// What was reached of the stated roofs, in a sentence: the first thing a page says.
std::string verdict_of(const DeviceEnvelope& device) {
  std::vector<std::string> parts;
  for (const EnvelopeRoof& roof : device.roofs)
    if (roof.reached.per_second && roof.stated && *roof.stated > 0)
      parts.push_back(core::format_percent(*roof.reached.per_second / *roof.stated) + " of the stated " +
                      (roof.kind == report::Roof::Kind::compute ? roof.name + " peak" : roof.name + " bandwidth"));
  if (!device.fitted()) return "No envelope: too few runs.";
  if (parts.empty()) return "The runs reached roofs that are not in the device's data sheet.";
  return fmt::format("The runs reached {}.", core::join(parts, ", "));
}

}  // namespace

bool DeviceEnvelope::fitted() const {
  return std::any_of(roofs.begin(), roofs.end(), [](const auto& roof) { return roof.reached.per_second.has_value(); });
}
bool EnvelopeOutcome::fitted() const {
  return std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.fitted(); });
}

core::Result<EnvelopeOutcome> fit_envelopes(const EnvelopeRequest& request, const Services& services) {
  AACO_TRY(check_where(request.where));
  if (!(request.options.quantile >= 0.5 && request.options.quantile <= 0.999))
    return core::fail(core::ErrorCode::invalid_argument, "the quantile must be between 0.5 and 0.999");
  if (!request.sessions.empty() && !request.where.empty())
    return core::fail(core::ErrorCode::invalid_argument, "session names and --where are mutually exclusive",
                      "pass session names, or select sessions with --where");
  std::string device;
  if (!request.device.empty()) {
    AACO_ASSIGN(const auto found, find_device(request.device, services));
    device = found.id_with_state();
  }
  EnvelopeOutcome outcome;
  outcome.account.source = "sessions";
  Groups groups;
  AACO_TRY(collect(request, device, groups, outcome.account, services));
  if (groups.empty()) {
    std::string why;
    for (const auto& [reason, count] : outcome.account.dropped) why += fmt::format("; {}: {}", count, reason);
    return core::fail(core::ErrorCode::not_found,
                      "no session " + (device.empty() ? "" : "on " + device + " ") + "under " + services.paths.sessions +
                          " has known FLOPs and bytes" + why,
                      "'aaco ls' lists the sessions");
  }
  for (auto& [key, group] : groups) {
    services.progress("fitting " + group.device.id);
    outcome.devices.push_back(fit(std::move(group), request, services));
  }
  std::stable_sort(outcome.devices.begin(), outcome.devices.end(), [](const auto& a, const auto& b) { return a.all > b.all; });
  return outcome;
}

report::ReportModel envelope_report(const DeviceEnvelope& device, const EnvelopeRequest& request) {
  report::ReportModel model;
  model.title = "Performance envelope of " + device.name;
  model.verdict = verdict_of(device);
  model.verdict_confidence = fmt::format("{} run{} of {} {}, {} points; intervals from resampling runs", device.sessions.size(),
                                         device.sessions.size() == 1 ? "" : "s", device.workloads,
                                         device.workloads == 1 ? "workload" : "workloads", device.all);
  report::Roofline line;
  line.text = fmt::format("Rates not exceeded by {} run{} of {} workload{} on {} for {:g} % of their time.",
                          device.sessions.size(), device.sessions.size() == 1 ? "" : "s", device.workloads,
                          device.workloads == 1 ? "" : "s", device.name, 100 * request.options.quantile);
  line.roofs = device.stated_roofs;
  for (const EnvelopeRoof& roof : device.roofs)
    if (roof.reached.per_second)
      line.roofs.push_back({roof.name + ", reached", roof.kind, *roof.reached.per_second,
                            fmt::format("reached: {} points from {} runs", roof.reached.points, roof.reached.runs),
                            Roof::Basis::reached, roof.name});
  line.points = device.points;
  model.roofline = std::move(line);
  return model;
}

}  // namespace aaco::workflows
