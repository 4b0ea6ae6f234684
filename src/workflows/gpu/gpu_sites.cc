#include "workflows/gpu_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "analytics/gap_reason.h"
#include "core/numbers.h"
#include "estimation/analysis.h"
#include "estimation/mapping.h"
#include "workflows/calibration_registry.h"
#include "workflows/device_roofs.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::GapReason;
using analytics::roofline::OperatorWork;
using analytics::roofline::RowSite;
using analytics::roofline::SiteGroup;
using core::Json;
using estimation::Kernel;

constexpr std::size_t kStored = 200;  // sites in the manifest; the sums count all

std::optional<Kernel> kernel_of(const OperatorWork& work) {
  const std::string type = estimation::canonical_type(work.dtype);
  if (const auto* rows = std::get_if<RowSite>(&work.site))
    return Kernel{estimation::VectorShape{rows->op, rows->rows, rows->cols}, type};
  graph::Site site;
  std::visit(
      [&site](const auto& one) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, RowSite>) site = one;
      },
      work.site);
  return estimation::kernel_of_site(site, type);
}

// `calibrations` have failed afterwards where a fit could not be read (status()).
std::optional<GpuSite> estimate_site(const SiteGroup& group, const trace::NameTable& names, const hardware::Device& device,
                                     const estimation::DeviceFacts& facts, const estimation::CalibrationSet& calibrations) {
  const auto kernel = kernel_of(group.work);
  if (!kernel || group.count == 0) return std::nullopt;
  const estimation::Work work{group.work.flops, group.work.bytes};
  const auto mapping = map_kernel(*kernel, work, device);
  if (!mapping) return std::nullopt;
  GpuSite site;
  site.predicted = theoretical_estimate(work, *mapping, device);
  const auto& why = site.predicted.explanation;
  const double kernels = group.work.kernels;  // of a call: a convolution's two gradients are as much work each
  site.attainable_ns = std::max(why.compute_s, why.memory_s) * 1e9 * kernels * static_cast<double>(group.count);
  if (!group.work.gradient) {
    auto fitted = estimation::estimate(*kernel, facts, &calibrations);
    if (fitted && fitted->level != estimation::Level::theoretical) site.predicted = std::move(*fitted);
  }
  for (double* time : {&site.predicted.seconds, &site.predicted.lower, &site.predicted.upper}) *time *= kernels;
  site.operator_name = names.text(group.operator_name);
  site.shape = shape_text(*kernel);
  site.dtype = group.work.dtype;
  site.count = group.count;
  site.kernels = group.kernels;
  site.needed = group.work.kernels;
  site.measured_ns = group.time_ns;
  site.tile_ratio = mapping->tile_ratio;
  site.wave_ratio = mapping->wave_ratio;
  return site;
}

std::string_view ceiling_of(const GpuSite& site) {
  return analytics::roofline::ceiling_of(site.predicted.explanation.compute_s, site.predicted.explanation.memory_s);
}

GapReason gap_of(const GpuSite& site) {
  analytics::roofline::SiteGap gap;
  gap.measured_ns = site.measured_ns;
  gap.attainable_ns = site.attainable_ns;
  gap.predicted_lower_ns = site.predicted.lower * 1e9;
  gap.predicted_upper_ns = site.predicted.upper * 1e9;
  gap.floor_ns = site.predicted.explanation.floor_s * 1e9;
  gap.count = static_cast<double>(site.count);
  gap.kernels = static_cast<double>(site.kernels);
  gap.needed = static_cast<double>(site.needed);
  gap.tile_ratio = site.tile_ratio;
  gap.wave_ratio = site.wave_ratio;
  gap.ceiling = ceiling_of(site);
  return reason_of(gap);
}

bool is_surprise(const GpuSite& site) { return gap_of(site).surprise; }

Json site_json(const GpuSite& site) {
  const double calls = static_cast<double>(site.count), ns = 1e9 * calls;
  GapReason gap = gap_of(site);
  return Json::object({{"name", site.operator_name + " " + site.shape + " " + site.dtype},
                       {"op_type", site.operator_name},
                       {"shape", site.shape},
                       {"dtype", site.dtype},
                       {"count", site.count},
                       {"kernel_count", site.kernels},
                       {"measured_ns", site.measured_ns},
                       {"attainable_ns", site.attainable_ns},
                       {"gap_ns", site.measured_ns - site.attainable_ns},
                       {"predicted_ns", site.predicted.seconds * ns},
                       {"predicted_lower_ns", site.predicted.lower * ns},
                       {"predicted_upper_ns", site.predicted.upper * ns},
                       {"confidence", to_string(site.predicted.level)},
                       {"limit", ceiling_of(site)},
                       {"reason", std::move(gap.text)},
                       {"surprise", gap.surprise}});
}

// What site_json() wrote.
report::Attainable::Node site_node(const Json& json) {
  const auto text = [&](std::string_view key) { return std::string(json[key].text()); };
  report::Attainable::Node node;
  node.name = text("name");
  node.op_type = text("op_type");
  node.shape = text("shape");
  node.dtype = json["dtype"].as_string();
  node.count = json["count"].as_i64();
  node.kernel_count = json["kernel_count"].as_i64();
  node.measured_ns = json["measured_ns"].as_f64().value_or(0);
  node.attainable_ns = json["attainable_ns"].as_f64().value_or(0);
  node.predicted_ns = json["predicted_ns"].as_f64();
  node.predicted_lower_ns = json["predicted_lower_ns"].as_f64();
  node.predicted_upper_ns = json["predicted_upper_ns"].as_f64();
  node.confidence = text("confidence");
  node.limit = text("limit");
  node.reason = text("reason");
  node.surprise = json["surprise"].as_bool().value_or(false);
  return node;
}

}  // namespace

GpuSites estimate_sites(const std::vector<SiteGroup>& groups, const trace::NameTable& names,
                        const core::Result<hardware::Device>& device, const Services& services) {
  GpuSites out;
  if (groups.empty()) {
    out.reason = "the trace has no shapes for operators that have a performance model";
    return out;
  }
  for (const SiteGroup& group : groups)
    if (group.work.flops > 0)
      out.operator_flops[std::string(names.text(group.operator_name))] += group.work.flops * static_cast<double>(group.count);
  if (!device) {
    out.reason = device.error().message;
    return out;
  }
  out.device_id = device->id_with_state();
  const auto calibrations = load_calibrations_for(services.paths, *device);
  if (!calibrations) {
    out.reason = calibrations.error().message;
    return out;
  }
  const auto facts = estimation::facts_of(*device);
  for (const SiteGroup& group : groups) {
    auto site = estimate_site(group, names, *device, facts, *calibrations);
    if (!site) continue;
    out.measured_ns += site->measured_ns;
    out.attainable_ns += std::min(site->attainable_ns, site->measured_ns);
    out.sites.push_back(std::move(*site));
  }
  if (const core::Status read = calibrations->status(); !read) {
    GpuSites none;
    none.device_id = out.device_id;
    none.reason = read.error().message;
    none.operator_flops = out.operator_flops;
    return none;
  }
  const auto gap = [](const GpuSite& site) { return site.measured_ns - site.attainable_ns; };
  std::stable_sort(out.sites.begin(), out.sites.end(), [&](const auto& a, const auto& b) { return gap(a) > gap(b); });
  if (out.sites.empty()) out.reason = "the data sheet of " + device->name + " lists none of the operators' data types";
  return out;
}

Json to_json(const GpuSites& sites, double kernel_sum_ns) {
  Json out = Json::object();
  if (!sites.device_id.empty()) out.set("device_id", sites.device_id);
  if (!sites.operator_flops.empty()) {
    Json flops = Json::object();
    for (const auto& [name, sum] : sites.operator_flops) flops.set(name, sum);
    out.set("operator_flops", std::move(flops));
  }
  if (!sites.reason.empty()) return out.set("reason", sites.reason);
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kStored, sites.sites.size()); ++i) list.push(site_json(sites.sites[i]));
  const auto surprises = std::count_if(sites.sites.begin(), sites.sites.end(), is_surprise);
  if (kernel_sum_ns > 0) out.set("explained_ratio", sites.measured_ns / kernel_sum_ns);
  return out.set("measured_ns", sites.measured_ns)
      .set("attainable_ns", sites.attainable_ns)
      .set("kernel_sum_ns", kernel_sum_ns)
      .set("site_count", sites.sites.size())
      .set("surprises", surprises)
      .set("nodes", std::move(list));
}

void fill_sites(report::ReportModel& model) {
  if (model.sections.attainable) return;
  const Json* best = nullptr;
  for (const Json& gpu : model.session.outcome.gpu["gpus"].items()) {
    const Json& one = gpu["sites"];
    if (one["nodes"].items().empty()) continue;
    if (best == nullptr || one["measured_ns"].as_f64().value_or(0) > (*best)["measured_ns"].as_f64().value_or(0)) best = &one;
  }
  if (best == nullptr) return;
  const Json& stored = *best;
  report::Attainable section;
  section.device = stored["device_id"].as_string();
  section.title = "Attainable time per operator";
  const double sum = stored["kernel_sum_ns"].as_f64().value_or(0), measured = stored["measured_ns"].as_f64().value_or(0);
  const auto listed = static_cast<std::int64_t>(stored["nodes"].items().size());
  const auto all = stored["site_count"].as_i64().value_or(listed);
  section.note = fmt::format(
      "{} of the kernel time has recorded shapes and a performance model; rows are sums over all calls of an operator with the "
      "same shapes{}. The remaining {} is in kernels without recorded shapes or without a model (optimizers, custom operators).",
      sum > 0 ? core::format_percent(measured / sum) : "Some",
      all > listed ? fmt::format(" (the largest {} of {} gaps)", listed, all) : "",
      core::format_duration(std::max(0.0, sum - measured)));
  section.explained_ratio = stored["explained_ratio"].as_f64();
  section.measured_ns = stored["measured_ns"].as_f64();
  section.attainable_ns = stored["attainable_ns"].as_f64();
  section.surprises = stored["surprises"].as_i64();
  for (const Json& node : stored["nodes"].items()) section.nodes.push_back(site_node(node));
  section.unmatched_ns = std::max(0.0, sum - measured);
  model.sections.attainable = std::move(section);
}

}  // namespace aaco::workflows
