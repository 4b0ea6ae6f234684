#include "analytics/gap_reason.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::analytics::roofline {
namespace {

constexpr double kFloorTimes = 3;  // a call below so many launch floors is mostly launch (our own judgement)

std::string node_text(const NodeGap& node, double reached) {
  if (reached > 1) return "faster than the ceiling: data served from cache, or the ceiling was measured too low";
  if (reached >= kCloseToCeiling) return fmt::format("close to the {} ceiling", node.ceiling);
  if (node.measured_ns < kSmallNodeNs * std::max(1.0, node.count)) return "too small: runtime overhead dominates";
  if (node.tile_ratio < kCloseToCeiling)
    return fmt::format("its shape wastes {:.0f} % of the vector lanes", 100 * (1 - node.tile_ratio));
  if (node.wave_ratio < kCloseToCeiling) return fmt::format("its shape uses only {:.0f} % of the cores", 100 * node.wave_ratio);
  return fmt::format("the kernel is far below the {} ceiling", node.ceiling);
}

std::string site_text(const SiteGap& site, double reached) {
  if (reached > 1) return "faster than the data sheet roof: data served from cache, or a narrower data type was used";
  if (reached >= kCloseToCeiling) return fmt::format("close to the {} ceiling", site.ceiling);
  if (site.measured_ns / site.count < kFloorTimes * site.floor_ns) return "too small: kernel launch and drain time dominates";
  if (site.kernels > site.count * (site.needed + 0.5))
    return fmt::format("{:.1f} kernels per call: the library adds separate kernels before or after the main one",
                       site.kernels / site.count);
  if (site.wave_ratio < kShapeLoss)
    return fmt::format("its shape fills only {:.0f} % of the compute units", 100 * site.wave_ratio);
  if (site.tile_ratio < kShapeLoss)
    return fmt::format("its shape wastes {:.0f} % of the tiles (padding)", 100 * (1 - site.tile_ratio));
  return fmt::format("the kernel is far below the {} ceiling", site.ceiling);
}

constexpr std::string_view kSlower = "; slower than predicted for this shape";
constexpr std::string_view kFaster = "; faster than predicted for this shape";

}  // namespace

std::string_view ceiling_of(double compute_time, double memory_time) { return compute_time > memory_time ? "compute" : "memory"; }

GapReason reason_of(const NodeGap& node) {
  const double reached = node.attainable_ns / node.measured_ns;
  const bool slow = node.measured_ns > node.predicted_upper_ns, fast = node.measured_ns < node.predicted_lower_ns;
  GapReason reason{node_text(node, reached), node.comparable && (slow || fast)};
  if (reason.surprise && slow) reason.text += kSlower;
  if (reason.surprise && fast && reached <= 1) reason.text += kFaster;
  return reason;
}

GapReason reason_of(const SiteGap& site) {
  const double reached = site.attainable_ns / site.measured_ns, call_ns = site.measured_ns / site.count;
  const bool slow = call_ns > site.predicted_upper_ns, fast = call_ns < site.predicted_lower_ns;
  GapReason reason{site_text(site, reached), slow || fast};
  if (reason.surprise && reached <= 1) reason.text += slow ? kSlower : kFaster;
  return reason;
}

}  // namespace aaco::analytics::roofline
