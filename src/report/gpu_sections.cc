#include "report/gpu_sections.h"

#include "core/strings.h"

namespace aaco::report {
namespace {

using core::Json;

void set_banded(Json& out, const std::string& key, std::optional<double> value, const std::string& band) {
  if (!value) return;
  out.set(key, *value);
  if (!band.empty()) out.set(key + "_band", band);
}

Json to_json(const GpuSection::Device& device) {
  Json out = Json::object({{"name", device.name}, {"bound", device.bound}});
  set_banded(out, "active_ratio", device.active_ratio, device.active_ratio_band);
  set_banded(out, "launch_tax", device.launch_tax, device.launch_tax_band);
  out.set_if("launch_lost_ratio", device.launch_lost_ratio);
  set_banded(out, "kernels_per_node", device.kernels_per_node, device.kernels_per_node_band);
  out.set_if("queue_depth", device.queue_depth).set_if("api_mean_ns", device.api_mean_ns);
  out.set_if("queue_mean_ns", device.queue_mean_ns).set_if("execution_mean_ns", device.execution_mean_ns);
  return out.set_if("roofline_ratio", device.roofline_ratio);
}

Json to_json(const GpuSection::Family& family) {
  return Json::object({{"family", family.family},
                       {"kernel_count", family.kernel_count},
                       {"kernel_sum_ns", family.kernel_sum_ns},
                       {"share_ratio", family.share_ratio}});
}

Json to_json(const GpuSection::Rank& rank) {
  Json out = Json::object({{"rank", rank.rank},
                           {"span_ns", rank.span_ns},
                           {"compute_ns", rank.compute_ns},
                           {"collective_count", rank.collective_count},
                           {"collective_sum_ns", rank.collective_sum_ns},
                           {"exposed_collective_ns", rank.exposed_collective_ns},
                           {"idle_ns", rank.idle_ns}});
  return out.set_if("step_mean_ns", rank.step_mean_ns);
}

Json to_json(const Attribution::Method& method) {
  return Json::object(
      {{"method", method.method}, {"kernel_count", method.kernel_count}, {"kernel_sum_ns", method.kernel_sum_ns}});
}

Json to_json(const Attribution::Operator& one) {
  return Json::object({{"operator", one.name}, {"kernel_count", one.kernel_count}, {"kernel_sum_ns", one.kernel_sum_ns}});
}

Json to_json(const Gaps::Cause& cause) {
  return Json::object({{"cause", cause.cause}, {"gap_count", cause.gap_count}, {"idle_ns", cause.idle_ns}});
}

Json to_json(const Gaps::HostCause& cause) {
  return Json::object({{"cause", cause.cause},
                       {"title", cause.title},
                       {"remedy", cause.remedy},
                       {"gap_count", cause.gap_count},
                       {"idle_ns", cause.idle_ns}});
}

Json to_json(const Gaps::Gap& gap) {
  Json out = Json::object({{"rank", gap.rank},
                           {"device", gap.device},
                           {"start_ns", gap.start_ns},
                           {"length_ns", gap.length_ns},
                           {"cause", gap.cause},
                           {"confidence_ratio", gap.confidence_ratio},
                           {"previous", gap.previous},
                           {"next", gap.next}});
  out.set_if("evidence", gap.evidence).set_if("host_cause", gap.host_cause).set_if("host_cause_ns", gap.host_cause_ns);
  return out.set_if("host_run_queue_ns", gap.host_run_queue_ns).set_if("host_off_cpu_ns", gap.host_off_cpu_ns);
}

template <class T>
Json list_json(const std::vector<T>& list) {
  Json out = Json::array();
  for (const T& one : list) out.push(to_json(one));
  return out;
}

}  // namespace

std::string cause_words(std::string_view cause) {
  if (cause == "host_late") return "late launch";
  return core::replace_all(std::string(cause), "_", " ");
}

Json to_json(const GpuSection& section) {
  Json out = Json::object({{"devices", list_json(section.devices)}, {"families", list_json(section.families)}});
  if (const auto& convention = section.convention)
    out.set("convention",
            Json::object(
                {{"orphan_kernels", convention->orphan_kernels}, {"memset", convention->memset}, {"span", convention->span}}));
  if (!section.ranks.empty()) out.set("ranks", list_json(section.ranks));
  return out;
}

Json to_json(const Attribution& section) {
  return Json::object({{"kernel_count", section.kernel_count},
                       {"attributed_kernel_count", section.attributed_kernel_count},
                       {"kernel_sum_ns", section.kernel_sum_ns},
                       {"attributed_kernel_sum_ns", section.attributed_kernel_sum_ns},
                       {"methods", list_json(section.methods)},
                       {"operators", list_json(section.operators)}});
}

Json to_json(const Gaps& section) {
  Json out = Json::object({{"causes", list_json(section.causes)}, {"longest", list_json(section.longest)}});
  if (!section.host_causes.empty()) out.set("host_causes", list_json(section.host_causes));
  out.set_if("explained_ratio", section.explained_ratio);
  if (section.host)
    out.set("host", Json::object({{"gap_count", section.host->gap_count},
                                  {"run_queue_ns", section.host->run_queue_ns},
                                  {"off_cpu_ns", section.host->off_cpu_ns}}));
  return out;
}

}  // namespace aaco::report
