#include "workflows/fleet_compare.h"

#include "workflows/fleet/source.h"

namespace aaco::workflows {

core::Result<FleetComparison> compare_fleet(const FleetRequest& request, const std::string& a, const std::string& b,
                                            const Services& services) {
  AACO_ASSIGN(const auto side_a, analytics::fleet::parse_side(a));
  AACO_ASSIGN(const auto side_b, analytics::fleet::parse_side(b));
  AACO_ASSIGN(const auto source, open_fleet_source(request.from, services));
  AACO_ASSIGN(const auto extent, source->extent());
  AACO_ASSIGN(const FleetBins bins, fleet_bins(request, extent));
  FleetComparison out{request.from, a, b, bins.first_unix_ns, bins.until_unix_ns(), {}};
  for (const trace::FleetGroup group : trace::kFleetGroups) {
    services.progress("comparing " + std::string(trace::kFleetGroupNames[static_cast<std::size_t>(group)]) + " metrics");
    AACO_ASSIGN(const auto cells, source->cells(group, bins.first_unix_ns, bins.count, bins.bin_ns));
    for (auto& one : analytics::fleet::compare_sides(cells, group, side_a, side_b)) out.metrics.push_back(std::move(one));
  }
  services.progress("");
  if (out.metrics.empty())
    return core::fail(core::ErrorCode::not_found, "no metric has rows on both sides: " + a + " and " + b,
                      "list nodes and jobs with 'aaco fleet jobs'");
  return out;
}

core::Json to_json(const FleetComparison& comparison) {
  core::Json list = core::Json::array();
  for (const auto& one : comparison.metrics) {
    core::Json metric = core::Json::object({{"metric", one.metric},
                                            {"nodes_a", one.nodes_a},
                                            {"nodes_b", one.nodes_b},
                                            {"a", one.mean_a},
                                            {"b", one.mean_b},
                                            {one.relative ? "difference_ratio" : "difference", one.difference}});
    if (one.low) metric.set("ci95", core::Json::array({*one.low, *one.high}));
    metric.set("verdict", !one.low ? "no_interval" : !one.differs() ? "inconclusive" : one.difference > 0 ? "higher" : "lower");
    list.push(std::move(metric));
  }
  return core::Json::object({{"schema_version", 1},
                             {"from", comparison.from},
                             {"a", comparison.a},
                             {"b", comparison.b},
                             {"first_unix_ns", comparison.first_unix_ns},
                             {"until_unix_ns", comparison.until_unix_ns},
                             {"metrics", std::move(list)}});
}

}  // namespace aaco::workflows
