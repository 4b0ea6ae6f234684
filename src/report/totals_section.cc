#include "report/totals_section.h"

namespace aaco::report {
namespace {

using core::Json;

std::int64_t whole(const Json& json, std::string_view key) { return json[key].as_i64().value_or(0); }

ProfilerTotals::Entry entry_from(const Json& json) {
  ProfilerTotals::Entry entry;
  entry.name = json["name"].text();
  entry.count = whole(json, "count");
  entry.sum_ns = whole(json, "sum_ns");
  entry.mean_ns = json["mean_ns"].as_f64();
  entry.min_ns = json["min_ns"].as_i64();
  entry.max_ns = json["max_ns"].as_i64();
  entry.domain = json["domain"].as_string();
  entry.family = json["family"].as_string();
  entry.library = json["library"].as_string();
  entry.parameters = json["parameters"];
  return entry;
}

ProfilerTotals::Counts counts_from(const Json& object) {
  ProfilerTotals::Counts counts;
  for (const auto& [name, count] : object.members()) counts.emplace_back(name, count.as_i64().value_or(0));
  return counts;
}

ProfilerTotals::Samples samples_from(const Json& json) {
  ProfilerTotals::Samples samples;
  samples.samples = whole(json, "samples");
  samples.first_ns = whole(json, "first_ns");
  samples.last_ns = whole(json, "last_ns");
  for (const Json& one : json["instructions"].items())
    samples.instructions.push_back({std::string(one["instruction"].text()), one["source"].as_string(), whole(one, "samples")});
  samples.different_instructions = whole(json, "different_instructions");
  samples.types = counts_from(json["types"]);
  samples.stall_reasons = counts_from(json["stall_reasons"]);
  for (const Json& one : json["dispatches"].items())
    samples.dispatches.push_back({one["dispatch_id"].as_u64().value_or(0), whole(one, "samples")});
  samples.different_dispatches = json["different_dispatches"].as_i64();
  for (const Json& one : json["kernels"].items())
    samples.kernels.push_back({std::string(one["name"].text()), whole(one, "samples")});
  return samples;
}

Json entries_json(const std::vector<ProfilerTotals::Entry>& entries) {
  Json out = Json::array();
  for (const auto& entry : entries) {
    Json one = Json::object({{"name", entry.name}, {"count", entry.count}, {"sum_ns", entry.sum_ns}});
    one.set_if("mean_ns", entry.mean_ns).set_if("min_ns", entry.min_ns).set_if("max_ns", entry.max_ns);
    one.set_if("domain", entry.domain).set_if("family", entry.family).set_if("library", entry.library);
    out.push(std::move(one.set_if("parameters", entry.parameters)));
  }
  return out;
}

Json counts_json(const ProfilerTotals::Counts& counts) {
  Json out = Json::object();
  for (const auto& [name, count] : counts) out.set(name, count);
  return out;
}

Json to_json(const ProfilerTotals::Samples& samples) {
  Json out = Json::object({{"samples", samples.samples}, {"first_ns", samples.first_ns}, {"last_ns", samples.last_ns}});
  Json instructions = Json::array(), dispatches = Json::array(), kernels = Json::array();
  for (const auto& one : samples.instructions) {
    Json entry = Json::object({{"instruction", one.instruction}});
    entry.set_if("source", one.source);
    instructions.push(std::move(entry.set("samples", one.samples)));
  }
  out.set("instructions", std::move(instructions)).set("different_instructions", samples.different_instructions);
  if (!samples.types.empty()) out.set("types", counts_json(samples.types));
  if (!samples.stall_reasons.empty()) out.set("stall_reasons", counts_json(samples.stall_reasons));
  for (const auto& one : samples.dispatches)
    dispatches.push(Json::object({{"dispatch_id", one.dispatch_id}, {"samples", one.samples}}));
  if (!samples.dispatches.empty()) out.set("dispatches", std::move(dispatches));
  out.set_if("different_dispatches", samples.different_dispatches);
  for (const auto& one : samples.kernels) kernels.push(Json::object({{"name", one.name}, {"samples", one.samples}}));
  if (!samples.kernels.empty()) out.set("kernels", std::move(kernels));
  return out;
}

}  // namespace

Json to_json(const ProfilerTotals& section) {
  Json out = Json::object();
  if (!section.kernels.empty()) out.set("kernels", entries_json(section.kernels));
  if (!section.calls.empty()) out.set("calls", entries_json(section.calls));
  if (section.samples) out.set("samples", to_json(*section.samples));
  return out;
}

ProfilerTotals totals_from(const Json& summary) {
  ProfilerTotals totals;
  for (const Json& entry : summary["kernels"].items()) totals.kernels.push_back(entry_from(entry));
  for (const Json& entry : summary["calls"].items()) totals.calls.push_back(entry_from(entry));
  if (summary["samples"].is_object()) totals.samples = samples_from(summary["samples"]);
  return totals;
}

}  // namespace aaco::report
