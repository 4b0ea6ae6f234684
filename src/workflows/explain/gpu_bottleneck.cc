#include "workflows/explain/gpu_bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analytics/gpu_bottleneck.h"
#include "core/numbers.h"
#include "tracelake/lake.h"
#include "workflows/explain/headline_cause.h"
#include "workflows/explain/one_device.h"
#include "workflows/explain/outside_work.h"

namespace aaco::workflows {
namespace {

using analytics::advice::GpuFacts;
using analytics::bottleneck::GpuDevice;
using core::Json;

GpuDevice device_of(const Json& gpu, const trace::Metrics& metrics) {
  const auto value = [&](std::string_view id) {
    const auto* metric = find_metric(metrics, id, gpu["metric_device"].as_i64());
    return metric == nullptr ? std::nullopt : std::optional(metric->value);
  };
  const auto share = [&](std::string_view key) { return gpu["bound"][key].as_f64().value_or(0); };
  return {value("gpu.busy_ns"),
          value("gpu.span_ns"),
          {share("compute_ratio"), share("communication_ratio"), share("copy_ratio"), share("launch_ratio"),
           share("waiting_ratio"), share("held_ratio"), share("warmup_ratio")}};
}

// Of sessions imported by older versions nothing is known.
analytics::bottleneck::KernelParts parts_of(const Json& limits) {
  const auto time = [&](std::string_view key) { return limits[key].as_f64().value_or(0); };
  return analytics::bottleneck::parts_of(time("compute_ns"), time("memory_ns"), time("unknown_ns"), time("far_from_both_ns"));
}

std::vector<analytics::advice::KernelRoof> roofs_of(const Json& gpu) {
  std::vector<analytics::advice::KernelRoof> roofs;
  for (const Json& known : gpu["roofline"]["kernels"].items()) {
    const auto time = known["time_ns"].as_f64(), reached = known["reached_ratio"].as_f64();
    if (!time || !reached) continue;
    roofs.push_back({std::string(known["name"].text()), *time, *reached, known["roof"].text() == "memory"});
    if (const Json& faster = known["faster_type"]; faster.is_object()) {
      const auto number = [](const Json& of, std::string_view key) { return of[key].as_f64().value_or(0); };
      const double memory_ns = 1e9 * number(known, "bytes") / std::max(1.0, number(known, "memory_bytes_per_s"));
      roofs.back().faster_dtype = faster["dtype"].text();
      roofs.back().faster_ratio = std::max(number(known, "peak_flops_per_s") / std::max(1.0, number(faster, "peak_flops_per_s")),
                                           memory_ns / std::max(1.0, *time));
    }
  }
  // What the roofline has no rate for may still be known to be near a limit.
  const std::size_t from_roofline = roofs.size();
  for (const Json& known : gpu["kernel_limits"]["kernels"].items()) {
    const auto bandwidth = known["bandwidth_ratio"].as_f64(), rate = known["peak_rate_ratio"].as_f64();
    // Far from both the nearer one is still a limit of what is attainable.
    const bool far = known["evidence_class"].text() == "far_from_both" && bandwidth && rate;
    const bool memory = far ? *bandwidth >= *rate : known["limit"].text() == "memory";
    if (!memory && !far && known["limit"].text() != "compute") continue;
    const auto time = known["time_ns"].as_f64();
    const auto reached = memory ? bandwidth : rate;
    const std::string name(known["name"].text());
    const bool listed = std::any_of(roofs.begin(), roofs.begin() + static_cast<std::ptrdiff_t>(from_roofline),
                                    [&](const auto& roof) { return roof.name == name; });
    if (time && reached && !listed) roofs.push_back({name, *time, *reached, memory});
  }
  return roofs;
}

GpuFacts facts_of(const Json& gpu, const trace::Metrics& metrics, std::span<const trace::KernelGroupRow> rows,
                  const trace::NameTable& names) {
  const auto value = [&](std::string_view id) {
    const auto* metric = find_metric(metrics, id, gpu["metric_device"].as_i64());
    return metric == nullptr ? 0 : metric->value;
  };
  GpuFacts facts;
  facts.span_ns = value("gpu.span_ns");
  facts.busy_ns = value("gpu.busy_ns");
  facts.exposed_collective_ns = value("gpu.exposed_collective_ns");
  facts.exposed_copy_ns = std::max(0.0, facts.busy_ns - value("gpu.compute_ns") - facts.exposed_collective_ns);
  facts.launch_ns = gpu["bound"]["launch_ratio"].as_f64().value_or(0) * facts.span_ns;
  for (const Json& gap : gpu["gaps"].items()) facts.drained_ns += gap["drained_idle_ns"].as_f64().value_or(0);
  if (const Json* most = most_frequent_copy(gpu)) {
    const auto issued = analytics::advice::issued_work((*most)["kind"].text(), (*most)["count"].as_f64().value_or(0),
                                                       (*most)["mean_bytes"].as_f64());
    facts.copy_issue_ns = copy_issue_ns(gpu);
    facts.issued_title = issued.title;
    facts.issued_remedy = issued.remedy;
  }
  for (const Json& one : gpu["copy_kinds"].items()) {
    const std::string kind(one["kind"].text());
    facts.copy_ns[kind] = one["sum_ns"].as_f64().value_or(0);
    if (const auto exposed = one["exposed_ns"].as_f64()) facts.exposed_copies[kind].exposed_ns = *exposed;
    for (const Json& by : one["launched_by"].items())
      facts.exposed_copies[kind].launchers[std::string(by["name"].text())] = by["exposed_ns"].as_f64().value_or(0);
  }
  for (const Json& gap : gpu["gaps"].items())
    facts.idle[std::string(gap["cause"].text())] = {gap["gap_count"].as_i64().value_or(0), gap["idle_ns"].as_f64().value_or(0)};
  for (const Json& one : gpu["idle_causes"].items())
    facts.host.push_back({std::string(one["cause"].text()),
                          std::string(one["title"].text()),
                          std::string(one["remedy"].text()),
                          one["class"].text() == "launch" || one["class"].text() == "cannot-tell",
                          {one["gap_count"].as_i64().value_or(0), one["idle_ns"].as_f64().value_or(0)},
                          one["outside"].as_bool().value_or(false)});
  if (const Json& slow = gpu["findings"]["slowing_kernels"]; slow.is_object()) {
    facts.late_to_early_ratio = slow["late_to_early_ratio"].as_f64().value_or(1);
    facts.slowing_excess_ns = slow["excess_ns"].as_f64().value_or(0);
  }
  if (const Json& few = gpu["findings"]["few_groups"]; few.is_object()) {
    facts.few_groups_kernel = few["kernel"].text();
    facts.few_groups = fmt::format("{} work-groups for {} compute units", few["group_count"].as_i64().value_or(0),
                                   few["unit_count"].as_i64().value_or(0));
  }
  const auto rank = gpu["rank"].as_i64(), device = gpu["device"].as_i64();
  if (rank && device)
    facts.kernels = analytics::advice::gpu_kernels(rows, names, static_cast<std::int32_t>(*rank), *device, roofs_of(gpu));
  return facts;
}

// Of the file that says most of its copies from and to the host: the part of their time from pinned memory.
std::optional<double> pinned_ratio(const trace::SessionManifest& manifest) {
  double pinned = 0, all = 0;
  for (const Json& file : manifest.outcome.files.items()) {
    const Json& copies = file["facts"]["host_copies"];
    pinned += copies["pinned_ns"].as_f64().value_or(0);
    all += copies["pinned_ns"].as_f64().value_or(0) + copies["pageable_ns"].as_f64().value_or(0);
  }
  return all > 0 ? std::optional(pinned / all) : std::nullopt;
}

DeviceWindow window_of(const Json& gpu) {
  const std::int64_t offset_ns = gpu["host_offset_ns"].as_i64().value_or(0);
  return {static_cast<std::int32_t>(gpu["rank"].as_i64().value_or(0)), gpu["first_ns"].as_i64().value_or(0) + offset_ns,
          gpu["last_ns"].as_i64().value_or(0) + offset_ns};
}

// Nothing was recorded: the class follows from where the time lies, and no event supports it.
bool is_silence(const Json& cause) {
  const auto id = cause["id"].text();
  return id == "unknown" || id == "start-up" || id == "device-latency";
}

// Classes that follow from what the host did while the device was idle.
bool joins_host(std::string_view class_id) {
  return class_id == "host_waiting" || class_id == "launch_bound" || class_id == "dependency_bound" || class_id == "warmup";
}

// Most of the idle time is in gaps shorter than the clocks of host and device are apart.
bool clocks_decide(const Json& gpu) {
  constexpr double kMost = 0.5;
  return gpu["host_offset_uncertain_ratio"].as_f64().value_or(0) >= kMost;
}

double steps_ns(LoadedSession& loaded, std::int64_t rank) {
  double sum = 0;
  const auto rows = loaded.rows<trace::IterationRow>().value_or(std::span<const trace::IterationRow>());
  for (const auto& row : rows)
    if (row.rank == rank && loaded.names().text(row.phase) == "step") sum += static_cast<double>(row.duration_ns);
  return sum;
}

// Steps whose host worked on something known before the device's first work or after its last are judged as a whole: true.
bool add_outside(const std::vector<Json>& outside, double whole_ns, GpuDevice& device) {
  constexpr double kKnownOutside = 0.5;  // of the time outside the device's work, that its host's activities explain
  const double span_ns = device.span_ns.value_or(0);
  double known_ns = 0, warmup_ns = 0;
  for (const Json& one : outside) {
    const double ns = one["idle_ns"].as_f64().value_or(0);
    known_ns += ns;
    if (one["class"].text() == "warmup") warmup_ns += ns;
  }
  if (span_ns <= 0 || known_ns < kKnownOutside * (whole_ns - span_ns)) return false;
  auto& shares = device.shares;
  for (double* share :
       {&shares.compute, &shares.communication, &shares.copy, &shares.launch, &shares.waiting, &shares.held, &shares.warmup})
    *share *= span_ns / whole_ns;
  warmup_ns = std::min(warmup_ns, whole_ns - span_ns);
  shares.warmup += warmup_ns / whole_ns;
  shares.waiting += (whole_ns - span_ns - warmup_ns) / whole_ns;
  return true;
}

// Kernels of a long first step that no other step runs, where they are most of it: algorithms that are tried out, or set-up.
// Their time on the device; 0: there are none.
double tried_out_ns(const Json& uneven, double span_ns) {
  constexpr double kHalfOfStep = 0.5;
  const double once_ns = uneven["once_ns"].as_f64().value_or(0);
  return once_ns >= kHalfOfStep * uneven["longest_ns"].as_f64().value_or(INFINITY) ? std::min(once_ns, span_ns) : 0;
}

Json tried_out(const Json& uneven, double share) {
  return Json::object(
      {{"id", "autotuning"},
       {"title", fmt::format("{} kinds of kernels that run in the first step only (algorithms tried out, or set-up)",
                             core::format_count(uneven["once_kernel_count"].as_f64().value_or(0)))},
       {"remedy",
        "start the trace after the first step, and keep the result of a search (cudnn.benchmark, MIOpen's "
        "find database, Triton's cache) between runs"},
       {"span_share_ratio", share}});
}

// One rank that the others wait for is the answer where collectives limit the trace, and beside kernels of unknown limit where
// the waiting takes a large part.
void head_straggler(const Json& straggler, analytics::bottleneck::Bottleneck& found) {
  constexpr double kMatters = 0.15;  // of the span, as for other causes beside kernels of unknown limit
  const bool unknown =
      found.class_id == analytics::bottleneck::kInconclusive || found.class_id == analytics::bottleneck::kDeviceBusy;
  const auto waiting = straggler["waiting_ratio"].as_f64();
  const bool matters = found.class_id == "communication_bound" || (unknown && waiting.value_or(0) >= kMatters);
  if (!straggler["rank"].as_i64() || !matters) return;
  double share = waiting.value_or(0);
  for (const auto& one : found.ranking)
    if (one.class_id == "communication_bound") share = std::max(share, one.probability);
  std::erase_if(found.ranking, [](const auto& one) { return one.class_id == "communication_bound"; });
  found.ranking.insert(found.ranking.begin(), {"straggler", share});
  found.class_id = "straggler";
  if (unknown) found.evidence_class = analytics::bottleneck::kCloseHeadline;
  found.undecided.clear();
}

// Kernels limit the device's span; that is no answer where the steps last far longer and nothing tells what the host did then.
std::optional<GpuJudgement> unrecorded_steps(std::string_view class_id, double span_ns, double judged_ns, double whole_ns) {
  constexpr double kMinOfSteps = 0.5;
  const bool of_kernels =
      class_id == analytics::bottleneck::kDeviceBusy || class_id == "compute_bound" || class_id == "memory_bound";
  if (!of_kernels || judged_ns >= whole_ns || span_ns >= kMinOfSteps * whole_ns) return std::nullopt;
  const std::string text = fmt::format(
      "the steps last {} and the device works for {} of them: what the host does in the remaining time is not recorded",
      core::format_duration(whole_ns), core::format_duration(span_ns));
  return GpuJudgement{
      analytics::bottleneck::without_timeline(text),
      {},
      Json::object({{"id", "unrecorded-steps"},
                    {"title", text},
                    {"remedy", "record more steps, with the host's events (with_stack=True, NVTX or roctx ranges)"}})};
}

}  // namespace

std::optional<GpuJudgement> judge_gpu(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                      const trace::Metrics& metrics, const analytics::confidence::Table& confidences,
                                      const core::Paths& paths) {
  const auto& gpus = manifest.outcome.gpu["gpus"].items();
  if (const Json& none = manifest.outcome.gpu["no_timeline"]; none.is_object())
    return GpuJudgement{analytics::bottleneck::without_timeline(std::string(none["text"].text())),
                        {},
                        Json::object({{"id", none["reason"].text()}, {"title", none["text"].text()}})};
  std::vector<GpuDevice> devices;
  for (const Json& gpu : gpus) devices.push_back(device_of(gpu, metrics));
  const auto chosen = analytics::bottleneck::least_busy(devices);
  if (!chosen) return std::nullopt;
  const trace::NameTable& names = loaded.names();
  const auto rows = loaded.rows<trace::KernelGroupRow>().value_or(std::span<const trace::KernelGroupRow>());
  const double span_ns = devices[*chosen].span_ns.value_or(0);
  // Host time outside the device's work is in the steps, not in the span.
  Json gpu = gpus[*chosen];
  const double whole_ns = std::max(span_ns, steps_ns(loaded, gpu["rank"].as_i64().value_or(0)));
  double judged_ns = span_ns;  // what the shares are of
  if (whole_ns > span_ns && gpu.contains("first_ns"))
    if (const auto outside = host_outside(loaded, window_of(gpu), paths);
        outside && add_outside(*outside, whole_ns, devices[*chosen])) {
      gpu.set("idle_causes", with_causes(gpu["idle_causes"], *outside));
      judged_ns = whole_ns;
    }
  const double tried_ns = tried_out_ns(gpu["findings"]["uneven_steps"], span_ns);
  if (tried_ns > 0 && judged_ns > 0) {
    auto& shares = devices[*chosen].shares;
    const double share = std::min(shares.compute, tried_ns / judged_ns);
    shares.compute -= share;
    shares.warmup += share;
  }
  auto found =
      analytics::bottleneck::gpu_bottleneck(devices[*chosen].shares, parts_of(gpus[*chosen]["kernel_limits"]), confidences);
  if (!found) return std::nullopt;
  head_straggler(manifest.outcome.gpu["straggler"], *found);
  if (found->class_id == "straggler")
    found->confidence = analytics::bottleneck::headline_confidence(confidences, found->evidence_class);
  if (auto none = unrecorded_steps(found->class_id, span_ns, judged_ns, whole_ns)) return none;
  if (found->class_id == "host_waiting" || found->class_id == "launch_bound" || found->class_id == "dependency_bound")
    if (const auto text = may_be_one_device(manifest.outcome.gpu["gpus"], gpu, manifest.outcome.files, metrics))
      return GpuJudgement{analytics::bottleneck::without_timeline(*text),
                          {},
                          Json::object({{"id", "device-unclear"},
                                        {"title", *text},
                                        {"remedy",
                                         "profile all processes of the GPU in one trace (rocprofv3 or Nsight Systems), "
                                         "or import each process's trace alone"}})};
  GpuFacts facts = facts_of(gpu, metrics, rows, names);
  facts.pinned_ratio = pinned_ratio(manifest);
  facts.straggler = manifest.outcome.gpu["straggler"]["rank"].as_i64();
  facts.steps_ns = whole_ns;
  facts.session = manifest.id.text;
  const bool unknown_kernels =
      found->class_id == analytics::bottleneck::kInconclusive || found->class_id == analytics::bottleneck::kDeviceBusy;
  Json cause = headline_cause(found->class_id, unknown_kernels, gpu, manifest.outcome.gpu["straggler"], judged_ns);
  if (found->class_id == "warmup" && tried_ns > cause["idle_ns"].as_f64().value_or(0))
    cause = tried_out(gpu["findings"]["uneven_steps"], tried_ns / judged_ns);
  if (cause.is_object() && judged_ns > span_ns) cause.set("share_of", "steps");
  if (is_silence(cause) || (joins_host(found->class_id) && clocks_decide(gpu))) {
    found->evidence_class = analytics::bottleneck::kCloseHeadline;
    found->confidence = analytics::bottleneck::headline_confidence(confidences, found->evidence_class);
  }
  return GpuJudgement{*found, analytics::advice::recommend_gpu(facts), std::move(cause)};
}

}  // namespace aaco::workflows
