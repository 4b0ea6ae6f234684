#include "workflows/gpu/gpu_analysis_json.h"

#include <algorithm>

#include "analytics/gpu_limit.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kStreams = 32;  // the busiest; there may be hundreds

// `shared`: streams of several processes, so that each names its rank.
Json streams_json(const analytics::trace_time::DeviceTime& time, bool shared) {
  std::vector<std::pair<analytics::trace_time::StreamKey, analytics::trace_time::StreamTime>> streams(time.streams.begin(),
                                                                                                      time.streams.end());
  std::stable_sort(streams.begin(), streams.end(),
                   [](const auto& a, const auto& b) { return a.second.busy_ns > b.second.busy_ns; });
  if (streams.size() > kStreams) streams.resize(kStreams);
  Json list = Json::array();
  for (const auto& [key, sum] : streams) {
    Json entry =
        Json::object({{"stream", key.stream}, {"work_count", sum.work_count}, {"sum_ns", sum.sum_ns}, {"busy_ns", sum.busy_ns}});
    if (shared) entry.set("rank", key.rank);
    list.push(std::move(entry));
  }
  return list;
}

// Bins that hold something: kernels of low_ns up to, not including, high_ns.
Json durations_json(const analytics::trace_time::DurationBins& bins) {
  Json list = Json::array();
  for (std::size_t bin = 0; bin < bins.size(); ++bin)
    if (bins[bin] > 0)
      list.push(Json::object({{"low_ns", bin == 0 ? std::int64_t{0} : std::int64_t{1} << bin},
                              {"high_ns", std::int64_t{1} << (bin + 1)},
                              {"count", bins[bin]}}));
  return list;
}

Json launch_json(const analytics::trace_time::LaunchSplit& split) {
  if (split.kernel_count == 0) return {};
  const auto mean = [&](std::int64_t sum) { return static_cast<double>(sum) / static_cast<double>(split.kernel_count); };
  return Json::object({{"kernel_count", split.kernel_count},
                       {"api_mean_ns", mean(split.api_ns)},
                       {"queue_mean_ns", mean(split.queue_ns)},
                       {"execution_mean_ns", mean(split.execution_ns)}});
}

Json queue_json(const analytics::trace_time::QueueDepth& queue) {
  if (queue.depth.empty()) return {};
  Json depth = Json::array();
  for (const double value : queue.depth) depth.push(value);
  return Json::object({{"origin_ns", queue.origin_ns},
                       {"bucket_ns", queue.bucket_ns},
                       {"mean", queue.mean},
                       {"peak", queue.peak},
                       {"depth", std::move(depth)}});
}

Json gaps_json(const GpuOfTrace& gpu) {
  Json causes = Json::array();
  for (const auto& [cause, sum] : gpu.gaps)
    causes.push(Json::object({{"cause", analytics::gaps::to_string(cause)},
                              {"gap_count", sum.gap_count},
                              {"idle_ns", sum.idle_ns},
                              {"drained_idle_ns", sum.drained_ns},
                              {"issue_idle_ns", sum.issue_ns}}));
  return causes;
}

Json idle_causes_json(const GpuOfTrace& gpu) {
  Json causes = Json::array();
  for (const IdleCause& one : gpu.idle_causes)
    causes.push(Json::object({{"cause", one.cause.id},
                              {"class", one.cause.class_id},
                              {"title", one.cause.title},
                              {"remedy", one.cause.remedy},
                              {"gap_count", one.sum.gap_count},
                              {"idle_ns", one.sum.idle_ns}}));
  return causes;
}

// Part of the time in gaps that has a named cause.
std::optional<double> explained_ratio(const GpuOfTrace& gpu) {
  double all = 0, unknown = 0;
  for (const IdleCause& one : gpu.idle_causes) {
    all += static_cast<double>(one.sum.idle_ns);
    if (one.cause.id == "unknown") unknown += static_cast<double>(one.sum.idle_ns);
  }
  return all > 0 ? std::optional(1 - unknown / all) : std::nullopt;
}

Json limit_json(const GpuOfTrace& gpu, bool has_timeline) {
  auto finding = analytics::bottleneck::find_limit(gpu.time, gpu.gaps);
  if (!has_timeline) {
    finding.limit = analytics::bottleneck::GpuLimit::none;
    finding.confidence = 0;
  }
  Json evidence = Json::texts(finding.evidence);
  return Json::object({{"limit", analytics::bottleneck::to_string(finding.limit)},
                       {"margin_ratio", finding.confidence},
                       {"compute_ratio", finding.shares.compute},
                       {"communication_ratio", finding.shares.communication},
                       {"copy_ratio", finding.shares.copy},
                       {"launch_ratio", finding.shares.launch},
                       {"waiting_ratio", finding.shares.waiting},
                       {"warmup_ratio", finding.shares.warmup},
                       {"held_ratio", finding.shares.held},
                       {"evidence", std::move(evidence)}});
}

Json gpu_json(const GpuOfTrace& gpu, bool has_timeline) {
  Json out = Json::object({{"rank", gpu.rank},
                           {"device", gpu.device},
                           {"metric_device", gpu.metric_device},
                           {"first_ns", gpu.time.first_ns},
                           {"last_ns", gpu.time.last_ns},
                           {"copy_count", gpu.time.copy_count},
                           {"memset_count", gpu.time.memset_count},
                           {"collective_count", gpu.time.collective_count},
                           {"collective_ns", gpu.time.collective_ns},
                           {"copy_ns", gpu.time.copy_ns},
                           {"attributed_kernel_count", gpu.coverage.attributed_count},
                           {"attributed_kernel_ns", gpu.coverage.attributed_sum_ns},
                           {"bound", limit_json(gpu, has_timeline)},
                           {"gaps", gaps_json(gpu)},
                           {"idle_causes", idle_causes_json(gpu)},
                           {"kernel_durations", durations_json(gpu.time.duration_bins)},
                           {"streams", streams_json(gpu.time, gpu.ranks.size() > 1)}});
  if (gpu.ranks.size() > 1) {
    Json ranks = Json::array();
    for (const std::int32_t rank : gpu.ranks) ranks.push(rank);
    out.set("shared_by_ranks", std::move(ranks));
  }
  if (gpu.early_kernels > 0)
    out.set("kernels_before_launch", Json::object({{"count", gpu.early_kernels}, {"longest_lead_ns", gpu.earliest_ns}}));
  if (gpu.host_offset_ns != 0) out.set("host_offset_ns", gpu.host_offset_ns);
  if (gpu.uncertain_idle_ratio > 0) out.set("host_offset_uncertain_ratio", gpu.uncertain_idle_ratio);
  out.set_if("idle_explained_ratio", Json(explained_ratio(gpu)));
  if (!gpu.copy_kinds.items().empty()) out.set("copy_kinds", gpu.copy_kinds);
  out.set_if("launch", launch_json(gpu.time.launch));
  out.set_if("queue_depth", queue_json(gpu.queue));
  out.set("roofline", to_json(gpu.roofline));
  out.set_if("kernel_limits", gpu.kernel_limits);
  out.set_if("findings", to_json(gpu.findings));
  out.set("sites", to_json(gpu.sites, static_cast<double>(gpu.time.kernel_sum_ns)));
  return out;
}

Json ranks_json(const GpuAnalysis& analysis) {
  Json ranks = Json::array();
  for (const auto& rank : analysis.ranks) {
    Json entry = Json::object({{"rank", rank.rank},
                               {"span_ns", rank.span_ns},
                               {"compute_ns", rank.compute_ns},
                               {"collective_count", rank.collective_count},
                               {"collective_sum_ns", rank.collective_sum_ns},
                               {"exposed_collective_ns", rank.exposed_collective_ns},
                               {"idle_ns", rank.idle_ns}});
    entry.set_if("step_mean_ns", Json(rank.step_mean_ns));
    ranks.push(std::move(entry));
  }
  return ranks;
}

Json straggler_json(const analytics::trace_time::RankSkew& skew) {
  if (!skew.straggler) return {};
  return Json::object({{"rank", *skew.straggler},
                       {"waiting_ratio", skew.straggler_wait_ratio},
                       {"confidence_ratio", skew.confidence},
                       {"evidence", skew.evidence}});
}

}  // namespace

std::string gpu_label(std::int64_t rank, std::int64_t device) {
  return "GPU " + std::to_string(device) + (rank > 0 ? ", rank " + std::to_string(rank) : "");
}

Json to_json(const GpuAnalysis& analysis, const GpuAnalysisOptions& options) {
  Json gpus = Json::array();
  for (const GpuOfTrace& gpu : analysis.gpus) gpus.push(gpu_json(gpu, !analysis.no_timeline));
  Json out = Json::object({{"gpus", std::move(gpus)},
                           {"convention", Json::object({{"orphan_kernels", options.convention.orphans ? "counted" : "left out"},
                                                        {"memset", options.convention.memset ? "counted" : "left out"},
                                                        {"span", "first start to last end of device work in the trace"}})},
                           {"gap_threshold_ns", options.gap_threshold_ns}});
  if (const auto& none = analysis.no_timeline)
    out.set("no_timeline", Json::object({{"reason", none->reason}, {"text", none->text}}));
  out.set_if("nodes", analysis.nodes);
  if (analysis.skew) {
    out.set("ranks", ranks_json(analysis));
    out.set_if("straggler", straggler_json(*analysis.skew));
  }
  if (options.find_steps)
    out.set("steps", Json::object({{"method", analytics::steps::to_string(analysis.steps.method)},
                                   {"confidence_ratio", analysis.steps.confidence},
                                   {"count", analysis.steps.iterations.size()},
                                   {"explanation", analysis.steps.explanation}}));
  return out;
}

}  // namespace aaco::workflows
