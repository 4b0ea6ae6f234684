#include "report/work_rates_section.h"

#include "report/time_shares.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const WorkRates::Rate& rate, const std::string& shown) {
  Json out = Json::object({{"rank", rate.rank}, {"device", rate.device}, {"name", rate.name}});
  const std::string& short_name = rate.short_name.empty() ? shown : rate.short_name;
  if (short_name != rate.name) out.set("short_name", short_name);
  if (!rate.family.empty()) out.set("family", rate.family);
  if (!rate.data_type.empty()) out.set("data_type", rate.data_type);
  out.set("source", rate.source).set("count", rate.count).set("time_ns", rate.time_ns);
  out.set_if("flops", rate.flops).set_if("bytes", rate.bytes);
  out.set_if("flops_per_s", rate.flops_per_s).set_if("bytes_per_s", rate.bytes_per_s);
  out.set_if("peak_flops_per_s", rate.peak_flops_per_s).set_if("peak_bytes_per_s", rate.peak_bytes_per_s);
  return out.set_if("flops_ratio", rate.flops_ratio).set_if("bytes_ratio", rate.bytes_ratio);
}

Json rates_json(const std::vector<WorkRates::Rate>& rates) {
  constexpr int kRoom = 40;
  std::vector<std::string> names;
  for (const auto& rate : rates) names.push_back(rate.name);
  names = names_for(names, kRoom);
  Json list = Json::array();
  for (std::size_t i = 0; i < rates.size(); ++i) list.push(to_json(rates[i], names[i]));
  return list;
}

}  // namespace

Json to_json(const WorkRates& section) {
  Json out = Json::object();
  if (!section.hardware.empty()) out.set("hardware", section.hardware);
  return out.set("kernel_count", section.kernel_count)
      .set("operator_count", section.operator_count)
      .set("kernels", rates_json(section.kernels))
      .set("operators", rates_json(section.operators));
}

}  // namespace aaco::report
