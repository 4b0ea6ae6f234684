#include "workflows/gpu/kernel_limits.h"

#include <algorithm>

#include "analytics/confidence.h"
#include "core/files.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::KernelBound;
using analytics::roofline::KernelLimit;
using core::Json;

constexpr std::size_t kStoredLimits = 60;  // the times by limit count all

Json kernel_json(const KernelLimit& limit, const trace::NameTable& names, const analytics::confidence::Table& table) {
  Json out = Json::object({{"name", names.text(limit.kernel)},
                           {"family", names.text(limit.family)},
                           {"limit", analytics::roofline::to_string(limit.bound)},
                           {"count", limit.count},
                           {"time_ns", limit.time_ns},
                           {"evidence_class", analytics::roofline::to_string(limit.evidence)},
                           {"evidence", limit.text}});
  if (limit.bound != KernelBound::unknown)
    out.set_if("confidence_ratio", Json(table.of("kernel." + std::string(analytics::roofline::to_string(limit.evidence)))));
  if (!limit.work_from.empty()) out.set("work_from", limit.work_from);
  out.set_if("flops", Json(limit.flops));
  out.set_if("bytes", Json(limit.bytes));
  out.set_if("achieved_flops_per_s", Json(limit.flops_per_s));
  out.set_if("achieved_bytes_per_s", Json(limit.bytes_per_s));
  out.set_if("peak_rate_ratio", Json(limit.compute_ratio));
  out.set_if("bandwidth_ratio", Json(limit.memory_ratio));
  out.set_if("outlier_ns", Json(limit.outlier_ns));
  return out;
}

}  // namespace

Json to_json(const std::vector<KernelLimit>& limits, const trace::NameTable& names, const core::Paths& paths) {
  if (limits.empty()) return {};
  const auto table = analytics::confidence::Table::load(core::join_path(paths.share, "data/rules/confidence.yaml"))
                         .value_or(analytics::confidence::Table());
  const auto times = analytics::roofline::limit_times(limits);
  std::vector<const KernelLimit*> largest;
  for (const KernelLimit& limit : limits) largest.push_back(&limit);
  std::stable_sort(largest.begin(), largest.end(), [](const auto* a, const auto* b) { return a->time_ns > b->time_ns; });
  Json kernels = Json::array();
  for (std::size_t i = 0; i < std::min(kStoredLimits, largest.size()); ++i) kernels.push(kernel_json(*largest[i], names, table));
  double flops = 0;
  for (const KernelLimit& limit : limits) flops += limit.flops.value_or(0);
  return Json::object({{"flops", flops},
                       {"compute_ns", times.compute_ns},
                       {"memory_ns", times.memory_ns},
                       {"unknown_ns", times.unknown_ns},
                       {"far_from_both_ns", times.far_ns},
                       {"kernels", std::move(kernels)}});
}

}  // namespace aaco::workflows
