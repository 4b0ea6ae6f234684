#include "analytics/gpu_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analytics/advice/copy_mix.h"
#include "analytics/advice/gpu_command.h"
#include "analytics/advice/gpu_words.h"
#include "analytics/advice/issuing.h"
#include "analytics/advice/small_kernels.h"
#include "analytics/gap_causes.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::advice {
namespace {

constexpr double kFewestSmallKernels = 10;  // below which fusing is no advice
constexpr double kDominates = 0.3;          // of the whole: launching takes as much as anything else (our own judgement)
constexpr double kReplayGapNs = 1'500;      // between the kernels of a replayed graph: our own judgement, vendors state 1 to 2 us
// Waits for values, of the kernels or of the time between, with which no graph of the whole step is possible (the same).
constexpr double kManyReads = 0.05;
constexpr double kMostlyDrained = 0.5;     // of the time that launching and dispatch take; the same
constexpr double kNearLimit = 0.85;        // of the device limits: no other implementation is advised; the same
constexpr double kMostlyReductions = 0.5;  // of the small kernels' time; the same
constexpr double kFusedShare = 0.5;        // of two element-wise kernels fused, each tensor between is not written and read again
// How sure it is that the time goes away if the advice is followed: our own judgement.
constexpr double kSure = 0.8, kLikely = 0.6, kPerhaps = 0.4;
constexpr double kChange = 2, kRewrite = 3;  // effort

double total(const std::vector<GpuKernel>& kernels) {
  double sum = 0;
  for (const GpuKernel& kernel : kernels) sum += kernel.sum_ns;
  return sum;
}

// One class: each piece of advice excludes others.
class Adviser {
 public:
  explicit Adviser(const GpuFacts& facts) : facts_(facts), copies_(facts.copy_ns, facts.pinned_ratio, facts.exposed_copies) {
    const double sum = total(facts.kernels);
    // Kernels' times are a sum, the busy time is a union: a kernel saved saves its share of the union.
    const double busy = facts.busy_ns - facts.exposed_copy_ns - facts.exposed_collective_ns;
    visible_ = sum > 0 ? std::clamp(busy / sum, 0.0, 1.0) : 0;
    early_pace_ = sum > 0 ? std::clamp(1 - facts.slowing_excess_ns / sum, 0.0, 1.0) : 1;
  }

  std::vector<Recommendation> all() {
    waiting();
    launching();
    copies();
    collectives();
    small_kernels();
    large_elementwise();
    slowing();
    precision();
    slow_kernels();
    for (Recommendation& one : list_) one.command = command_of(one.id, facts_.session, idle_metrics(one.id));
    keep_best(list_);
    return std::move(list_);
  }

 private:
  void add(std::string id, std::string title, std::string text, double saved_ns, double confidence, double effort,
           std::string basis) {
    const double gain = std::min(saved_ns / whole_ns(facts_), 0.99);
    if (!(gain >= kMinGain)) return;
    list_.push_back({std::move(id), std::move(title), std::move(text), gain, confidence, effort, std::move(basis)});
    list_.back().gain_of = whole(facts_);
  }

  // What the idle time of an advice is called: a cause of its own, or those that launching ahead takes away.
  static std::string idle_metrics(const std::string& id) {
    if (id != "host_waiting") return gaps::idle_metric(id);
    return core::join(std::vector{gaps::idle_metric("framework"), gaps::idle_metric("python"), gaps::idle_metric("host_late")},
                      ",");
  }

  // Of idle time: what the device is busy with stays, also where the host's steps end before it does.
  double saveable(double idle_ns) const { return std::min(idle_ns, std::max(0.0, whole_ns(facts_) - facts_.busy_ns)); }

  GpuIdle idle(std::initializer_list<const char*> causes) const {
    GpuIdle sum;
    for (const char* cause : causes)
      if (const auto found = facts_.idle.find(cause); found != facts_.idle.end()) {
        sum.gap_count += found->second.gap_count;
        sum.idle_ns += found->second.idle_ns;
      }
    return sum;
  }

  void unexplained(const GpuIdle& idle, std::string text, std::string_view what = "the host as well") {
    list_.push_back({"unexplained_idle", fmt::format("trace {}: the trace does not explain why the device is idle", what),
                     std::move(text), 0, kPerhaps, kChange,
                     fmt::format("{} idle without a known cause, in {}; what explaining it saves is unknown",
                                 share(idle.idle_ns, facts_), gaps(idle.gap_count))});
    list_.back().gain_of = whole(facts_);
    list_.back().cost_ratio = idle.idle_ns / whole_ns(facts_);
  }

  // By what the launching thread did. Dispatch and Python code between launches are what the advice on launching saves.
  void host_causes() {
    double dispatch_ns = 0;
    for (const HostIdle& one : facts_.host) {
      if (one.cause == "unknown" && one.idle.idle_ns / whole_ns(facts_) >= kMinGain)
        unexplained(one.idle, "The trace contains no host events during these times.");
      if (one.cause == "framework" || one.cause == "python") dispatch_ns += one.idle.idle_ns;
      if (one.cause == "stream-event" && one.idle.idle_ns / whole_ns(facts_) >= kMinGain)
        unexplained(one.idle, "The host had launched the next work, and an event held it back: " + one.remedy + ".",
                    "what the events wait for");
      if (one.launching || one.cause == "unknown" || one.cause == "stream-event" || one.cause == "framework" ||
          one.cause == "python")
        continue;
      const std::string remedy = one.cause == "synchronous-copy" ? copies_.blocking_remedy(one.remedy) : one.remedy;
      const bool once = one.idle.gap_count == 1;
      add(one.cause, "idle: " + one.title, remedy, saveable(one.idle.idle_ns), once ? kPerhaps : kSure, kChange,
          fmt::format("{} idle, {}{}; {}{}", share(one.idle.idle_ns, facts_), gaps(one.idle.gap_count),
                      one.outside ? " and before or after the device's work" : "", span_then(saveable(one.idle.idle_ns), facts_),
                      once ? "; a single gap may not recur in a longer run" : ""));
    }
    if (drains(dispatch_ns + facts_.launch_ns)) return remove_drains();
    dispatch_ns = saveable(dispatch_ns - std::min(dispatch_ns, facts_.launch_ns));
    if (replays_dispatch()) return;  // that advice has it
    add("host_waiting", "keep the device busy: let the host run ahead",
        replays_graphs(facts_)
            ? "The device waits while the host dispatches operators and runs Python code outside the graphs that it "
              "replays: capture that too, or use larger batches."
            : "The device waits while the host dispatches operators and runs Python code: capture a graph, use "
              "torch.compile, or larger batches.",
        dispatch_ns, kLikely, kChange,
        fmt::format("{} idle during dispatch and Python code, excluding launch overhead; {}", share(dispatch_ns, facts_),
                    span_then(dispatch_ns, facts_)));
  }

  // Nearly each pause of dispatch and launching follows a wait for the device: without the waits the host runs ahead.
  bool drains(double between_ns) const {
    return facts_.drained_ns >= kMinGain * whole_ns(facts_) && facts_.drained_ns >= kMostlyDrained * between_ns;
  }
  void remove_drains() {
    const double saved = saveable(facts_.drained_ns);
    add("synchronisation", "remove what waits for the device between launches",
        "After each wait (.item(), .cpu(), synchronize) the device is idle until the host has launched the next work: keep the "
        "values on the device, and read them once at the end.",
        saved, kSure, kChange,
        fmt::format("{} idle in short gaps after such waits; {}", share(facts_.drained_ns, facts_), span_then(saved, facts_)));
  }

  // Copies and fills issued one by one take most of the launching time.
  bool issues_copies() const { return facts_.copy_issue_ns >= kMostlyDrained * facts_.launch_ns && facts_.copy_issue_ns > 0; }
  void issue_less() {
    const double saved = saveable(facts_.copy_issue_ns);
    add("small_copies", "idle: " + facts_.issued_title, facts_.issued_remedy + ".", saved, kSure, kChange,
        fmt::format("{} idle before these; {}", share(facts_.copy_issue_ns, facts_), span_then(saved, facts_)));
  }
  void larger_graphs() {
    const double saved = saveable(graph_launch_ns(facts_)) / 2;
    add("launch_bound", "launch fewer, larger graphs",
        "The program already replays graphs, and their launch calls take the time: capture several iterations in one graph, "
        "merge small graphs, and upload a graph before its first launch.",
        saved, kPerhaps, kChange,
        fmt::format("{} idle while graphs are launched; half as many launches would save half of that, {}",
                    share(graph_launch_ns(facts_), facts_), span_then(saved, facts_)));
  }

  void waiting() {
    if (!facts_.host.empty()) return host_causes();
    // What launching is to blame for is among the gaps of a late host: it is advised on once.
    const GpuIdle late = idle({"host_late", "launch_latency"});
    const double late_ns = late.idle_ns - std::min(late.idle_ns, facts_.launch_ns);
    add("host_waiting", "keep the device busy: let the host run ahead",
        "The host launches work too late: load and prepare data in other threads, and move Python work out of the step.", late_ns,
        kSure, kChange,
        fmt::format("{} idle because the host had not launched the next work ({}, excluding launch overhead); {}",
                    share(late_ns, facts_), gaps(late.gap_count), span_then(late_ns, facts_)));
    const GpuIdle sync = idle({"synchronisation"});
    add("synchronisation", "remove synchronisation points",
        "While the host waits for the device, it queues no work: defer reading results (.item(), .cpu(), print), or use "
        "events.",
        sync.idle_ns, kLikely, kChange,
        fmt::format("{} idle after {} by the host; {}", share(sync.idle_ns, facts_), waits(sync.gap_count),
                    span_then(sync.idle_ns, facts_)));
    const GpuIdle unknown = idle({"queue_empty", "unknown"});
    // Tracing more saves nothing by itself: what it would gain is not known.
    if (unknown.idle_ns / whole_ns(facts_) >= kMinGain)
      unexplained(unknown, "The trace contains no host calls during these gaps.");
  }

  void launching() {
    if (facts_.launch_ns >= kMinGain * whole_ns(facts_) && issues_copies()) return issue_less();
    if (graph_launch_ns(facts_) >= kMostlyDrained * dispatch_and_launch_ns(facts_) && graph_launch_ns(facts_) > 0)
      return larger_graphs();
    if (drains(dispatch_and_launch_ns(facts_))) return;  // that advice has it
    const double own_ns = replay_saves_ns(facts_.launch_ns);
    if (own_ns < kMinGain * whole_ns(facts_)) return;
    const bool whole_loop = replays_dispatch();
    const double idle_ns = whole_loop ? std::max(facts_.launch_ns, dispatch_and_launch_ns(facts_)) : facts_.launch_ns;
    const double saved = saveable(replay_saves_ns(idle_ns));
    std::string text =
        facts_.launch_ns >= kDominates * whole_ns(facts_)
            ? "Kernels are so short that launch overhead dominates. Alternatively, use larger batches or fused kernels."
            : "The device waits for the launches of short kernels. Alternatively, use larger batches or fused kernels.";
    add("launch_bound", "capture the launches once and replay them (CUDA or HIP graphs, torch.compile)", std::move(text), saved,
        reads_values() ? kPerhaps
        : reads_any()  ? kLikely
                       : kSure,
        kChange,
        fmt::format("{} idle {} {} kernels; the gap between replayed kernels is about {}; {}{}", share(idle_ns, facts_),
                    whole_loop ? "during launches, dispatch and Python code between" : "due to launch overhead between",
                    core::format_count(kernel_count(facts_)), core::format_duration(kReplayGapNs), span_then(saved, facts_),
                    reads_any()
                        ? "; what waits for the device between the launches (.item(), .cpu(), synchronize) goes first, since "
                          "no graph can contain it"
                        : ""));
  }

  double replay_saves_ns(double idle_ns) const { return idle_ns - kernel_count(facts_) * kReplayGapNs; }
  // Where launching dominates, a replayed graph runs without the code between the launches too.
  bool replays_dispatch() const { return facts_.launch_ns >= kDominates * whole_ns(facts_) && !reads_values(); }
  bool reads_values() const { return reads(facts_, kManyReads); }
  bool reads_any() const { return reads(facts_, kSomeReads); }

  void copies() {
    for (const CopyAdvice& one : copies_.advice(facts_.exposed_copy_ns))
      add("copy_bound", one.title, one.text, one.exposed_ns, kLikely, kChange,
          fmt::format("{}{} of exposed {}{}; {}", one.shared_out ? "about " : "", share(one.exposed_ns, facts_), one.what,
                      one.launched_by.empty() ? ""
                                              : fmt::format(", {} of it launched by {}", core::format_percent(one.launched_ratio),
                                                            short_name(one.launched_by)),
                      span_then(one.exposed_ns, facts_)));
  }

  void collectives() {
    if (facts_.straggler)
      return add("straggler", fmt::format("find out why rank {} is slower than the others", *facts_.straggler),
                 "The other ranks wait for it in their collectives: compare its kernels and its host with theirs, balance its "
                 "work, and check the clock and the temperature of its device.",
                 facts_.exposed_collective_ns, kLikely, kChange,
                 fmt::format("{} of exposed collectives, in which the others wait for it; {}",
                             share(facts_.exposed_collective_ns, facts_), span_then(facts_.exposed_collective_ns, facts_)));
    add("communication_bound", "overlap collectives with computation, or use fewer, larger ones",
        "Collectives run while no compute kernel is running.", facts_.exposed_collective_ns, kLikely, kChange,
        fmt::format("{} of exposed collectives; {}", share(facts_.exposed_collective_ns, facts_),
                    span_then(facts_.exposed_collective_ns, facts_)));
  }

  void small_kernels() {
    double sum = 0, count = 0, reductions = 0;
    for (const GpuKernel& kernel : facts_.kernels) {
      if (!is_fused(kernel)) continue;
      sum += kernel.sum_ns;
      count += kernel.count;
      if (kernel.family == "reduction") reductions += kernel.sum_ns;
    }
    // Reductions are fused with what is before them, not with one another.
    if (count < kFewestSmallKernels || reductions > kMostlyReductions * sum) return;
    const double saved = kFusedShare * sum * visible_;
    add("microkernels", "fuse the small element-wise kernels",
        "Each kernel reads and writes whole tensors for little computation.", saved, kPerhaps, kChange,
        fmt::format("{} element-wise, normalisation and copy kernels shorter than {} take {}; fusing them in pairs would save "
                    "half of that",
                    core::format_count(count), core::format_duration(kMicrokernelNs), share(sum, facts_)));
  }

  // One after another over large tensors: a compiler, or a fused optimiser, reads and writes each tensor once for all of them.
  void large_elementwise() {
    constexpr std::array<std::string_view, 3> kPointwise = {"elementwise", "copy_transpose", "optimiser"};
    double sum = 0, count = 0;
    for (const GpuKernel& kernel : facts_.kernels) {
      const bool pointwise = std::find(kPointwise.begin(), kPointwise.end(), kernel.family) != kPointwise.end();
      if (kernel.count <= 0 || is_small(kernel) || !pointwise || is_of_library(kernel)) continue;
      sum += kernel.sum_ns;
      count += kernel.count;
    }
    if (sum < kDominates * whole_ns(facts_)) return;
    const double saved = kFusedShare * sum * visible_;
    add("elementwise_fusion", "fuse element-wise kernels that follow one another (torch.compile, a fused optimizer)",
        "Each reads and writes whole tensors: fused, what is between two of them stays in registers.", saved, kPerhaps, kChange,
        fmt::format("{} of element-wise and copy kernels take {}; fusing them in pairs would save half of that; {}", calls(count),
                    share(sum, facts_), span_then(saved, facts_)));
  }

  void slowing() {
    const double saved = facts_.slowing_excess_ns * visible_;
    add("slowing_kernels", "find out why the same kernels get slower over the trace",
        "A clock that falls does this: log clock, power and temperature beside the run, and check the power limit and the "
        "cooling. "
        "The trace does not prove it.",
        saved, kPerhaps, kChange,
        fmt::format("kernels of the same name, grid and block take {:.2f} times as long in the last quarter as in the first; at "
                    "the first quarter's pace {}",
                    facts_.late_to_early_ratio, span_then(saved, facts_)));
  }

  // Products in float32 where the device does shorter types several times as fast.
  void precision() {
    double sum = 0, saved = 0, count = 0;
    std::string dtype;
    for (const GpuKernel& kernel : facts_.kernels) {
      if (kernel.faster_dtype.empty() || (!dtype.empty() && kernel.faster_dtype != dtype)) continue;
      dtype = kernel.faster_dtype;
      sum += kernel.sum_ns, saved += kernel.faster_saved_ns, count += kernel.count;
    }
    if (dtype.empty()) return;
    add("precision", fmt::format("compute float32 products in {}", dtype),
        (dtype == "tf32"
             ? std::string("PyTorch: torch.set_float32_matmul_precision('high'), with HIPBLASLT_ALLOW_TF32=1 on ROCm, or "
                           "torch.autocast to 16 bits.")
             : fmt::format("PyTorch: torch.autocast('cuda', torch.{}).", dtype)) +
            " It has fewer bits: check the results.",
        early_pace_ * saved * visible_, kLikely, kChange,
        fmt::format("{} of float32 products take {}; at the share of the peak that they reach, {} would save {} of it",
                    calls(count), share(sum, facts_), dtype, core::format_duration(saved)));
  }

  // What another implementation saves is what a steady device would show: the slowdown is advised on once.
  void slow_kernels() {
    const GpuKernel* best = nullptr;
    double saved = 0;
    const GpuKernel* costliest = nullptr;
    for (const GpuKernel& kernel : facts_.kernels) {
      if (kernel.family == "collective") continue;
      const bool fused =
          is_fused(kernel) && std::any_of(list_.begin(), list_.end(), [](const auto& one) { return one.id == "microkernels"; });
      if (!kernel.ideal_ns && !fused && (costliest == nullptr || kernel.sum_ns > costliest->sum_ns)) costliest = &kernel;
      const double would = kernel.ideal_ns ? (early_pace_ * kernel.sum_ns - *kernel.ideal_ns) * visible_ : 0;
      const bool near = kernel.ideal_ns && *kernel.ideal_ns >= kNearLimit * early_pace_ * kernel.sum_ns;
      if (would > saved && !near) best = &kernel, saved = would;
    }
    if (best != nullptr) {
      const bool small = best->sum_ns / best->count < kMicrokernelNs;  // its limits are not what it is slow by
      add(best->memory_roof ? "memory_bound" : "compute_bound",
          fmt::format("try another implementation of {} ({})", short_name(best->name), best->family),
          small ? std::string("It is far from the device limits because it is small: do more work per launch.")
                : fmt::format("It reaches {} of what the device limits allow: try another library, tile size or data type.",
                              core::format_percent(*best->ideal_ns / (early_pace_ * best->sum_ns))),
          saved, small ? kPerhaps / 2 : kPerhaps, kRewrite,
          fmt::format("its {} {} {}{}; the device limits allow {}", calls(best->count), best->count == 1 ? "takes" : "take",
                      core::format_duration(early_pace_ * best->sum_ns), facts_.slowing_excess_ns > 0 ? " at the early pace" : "",
                      core::format_duration(*best->ideal_ns)));
    }
    if (costliest == nullptr) return;
    const double half = early_pace_ * costliest->sum_ns / 2 * visible_;
    const bool few = !facts_.few_groups.empty() && costliest->name == facts_.few_groups_kernel;
    add("costliest_kernel", fmt::format("speed up {} ({})", short_name(costliest->name), costliest->family),
        few ? fmt::format("It has {}: split its work into more groups, use larger batches, or run it beside other kernels.",
                          facts_.few_groups)
            : std::string("No attainable time of it is known; profile this kernel to see what limits it."),
        half, kPerhaps / 2, kRewrite,
        fmt::format("it takes {}; a 2x speedup would save half of that", share(costliest->sum_ns, facts_)));
  }

  const GpuFacts& facts_;
  CopyMix copies_;
  double visible_ = 0;     // of a kernel's time, what no other kernel hides
  double early_pace_ = 1;  // of a kernel's time, what it takes at the pace of the trace's beginning
  std::vector<Recommendation> list_;
};

}  // namespace

std::vector<Recommendation> recommend_gpu(const GpuFacts& facts) {
  if (!(facts.span_ns > 0)) return {};
  return Adviser(facts).all();
}

}  // namespace aaco::analytics::advice
