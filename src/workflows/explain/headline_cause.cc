#include "workflows/explain/headline_cause.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analytics/gpu_advice.h"
#include "trace/kernel_name.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kMatters = 0.15;        // of the span: what is named beside kernels of unknown limit (our own judgement)
constexpr double kNamesLaunching = 0.3;  // of the launching time, for the part of it in gaps to be named (our own judgement)
constexpr double kNamedBeside = 0.1;     // of the dispatch, for Python code to be named beside the framework (the same)
constexpr double kOneDirection = 0.9;    // of the time of copies from and to the host: the other direction is not named
constexpr double kLeads = 0.5;           // of the kernel time: a family of kernels that has it is what the device does

struct Named {
  std::string_view family, id, title;
};
constexpr std::array<Named, 5> kFamilies = {{{"gemm", "matrix-products", "matrix products"},
                                             {"convolution", "convolutions", "convolutions"},
                                             {"copy_transpose", "layout-changes", "copies between layouts and types"},
                                             {"embedding_gather", "gathers", "gathers and embeddings"},
                                             {"sort_scan", "sort_scan", "sorts and scans"}}};

struct CopyWords {
  std::string_view kind, id, title;
};
constexpr std::array<CopyWords, 5> kCopies = {{{"h2d", "host-copies", "copies from the host to the device"},
                                               {"d2h", "host-copies", "copies from the device to the host"},
                                               {"d2d", "device-copies", "copies within the device"},
                                               {"p2p", "peer-copies", "copies between devices"},
                                               {"memset", "fills", "fills of device memory"}}};

// Dispatch and silence, which are no activity that could be taken away by itself.
bool is_weak(std::string_view cause) {
  return cause == "framework" || cause == "python" || cause == "unknown" || cause == "lock";
}

Json cause_of(std::string_view id, std::string_view title, double share) {
  return Json::object({{"id", id}, {"title", title}, {"span_share_ratio", share}});
}

Json idle_json(const Json& one, double idle_ns, double span_ns) {
  Json out = Json::object({{"id", one["cause"].text()}, {"title", one["title"].text()}, {"remedy", one["remedy"].text()}});
  out.set("idle_ns", idle_ns);
  if (span_ns > 0) out.set("span_share_ratio", idle_ns / span_ns);
  return out;
}

double idle_of(const Json& one) { return one["idle_ns"].as_f64().value_or(0); }

// The cause of this class that took most idle time; they are in that order.
Json largest_idle(std::string_view class_id, const Json& gpu, double span_ns) {
  for (const Json& one : gpu["idle_causes"].items())
    if (one["class"].text() == class_id) return idle_json(one, idle_of(one), span_ns);
  return {};
}

// What held back launched work: the largest that has a name, else that nothing tells it.
Json held_cause(const Json& gpu, double span_ns) {
  Json named = largest_idle("dependency", gpu, span_ns), unnamed = largest_idle("cannot-tell", gpu, span_ns);
  return idle_of(named) >= idle_of(unnamed) ? named : unnamed;
}

// The host waits for each kernel to finish before it launches the next: no launch overlaps with the device's work.
Json drained_cause(double idle_ns, double span_ns) {
  return Json::object({{"id", "synchronisation"},
                       {"title", "waiting for the device before each launch"},
                       {"remedy", "remove synchronisation points (.item(), .cpu(), synchronize), or use events"},
                       {"idle_ns", idle_ns},
                       {"span_share_ratio", idle_ns / span_ns}});
}

// Whether the host waits for the device between launches so often that no graph could contain them.
bool reads_values(const Json& gpu, double dispatch_ns) {
  double reading_ns = 0;
  for (const Json& one : gpu["idle_causes"].items())
    if (one["cause"].text() == "synchronous-copy" || one["cause"].text() == "synchronisation") reading_ns += idle_of(one);
  return reading_ns > analytics::advice::kSomeReads * dispatch_ns;
}

// No graph can contain them: they go first.
Json after_reads(Json cause, const Json& gpu, double dispatch_ns) {
  if (!reads_values(gpu, dispatch_ns)) return cause;
  return cause.set("remedy", "first remove what waits for the device between the launches (.item(), .cpu(), synchronize), then " +
                                 std::string(cause["remedy"].text()));
}

double sum_of(const Json& list, std::string_view key) {
  double sum = 0;
  for (const Json& one : list.items()) sum += one[key].as_f64().value_or(0);
  return sum;
}

// Of the time in which copies and fills are issued one by one: the kind that there are most of.
Json issued_cause(const Json& gpu, double issue_ns, double span_ns) {
  const Json* most = most_frequent_copy(gpu);
  if (most == nullptr) return {};
  const auto work = analytics::advice::issued_work((*most)["kind"].text(), (*most)["count"].as_f64().value_or(0),
                                                   (*most)["mean_bytes"].as_f64());
  return Json::object({{"id", work.id},
                       {"title", work.title},
                       {"remedy", work.remedy},
                       {"idle_ns", issue_ns},
                       {"span_share_ratio", issue_ns / span_ns}});
}

// Launching one by one costs in the call, in the framework and in the code between operators.
Json launch_cause(const Json& gpu, double span_ns) {
  double dispatch_ns = 0;
  const Json* framework = nullptr;
  for (const Json& one : gpu["idle_causes"].items()) {
    const std::string_view id = one["cause"].text();
    if (id != "framework" && id != "python") continue;
    dispatch_ns += idle_of(one);
    if (framework == nullptr || id == "framework") framework = &one;
  }
  Json launch = largest_idle("launch", gpu, span_ns);
  const double called_ns = launch["idle_ns"].as_f64().value_or(0);
  const double share = gpu["bound"]["launch_ratio"].as_f64().value_or(0);
  const double drained_ns = sum_of(gpu["gaps"], "drained_idle_ns");
  if (const double issue_ns = copy_issue_ns(gpu); issue_ns >= kLeads * share * span_ns)
    if (Json issued = issued_cause(gpu, issue_ns, span_ns); !issued.is_null()) return issued;
  if (drained_ns >= kLeads * share * span_ns && drained_ns > dispatch_ns) return drained_cause(drained_ns, span_ns);
  if (std::max(called_ns, dispatch_ns) < kNamesLaunching * share * span_ns)
    return cause_of("small-kernels", "kernels shorter than their launches", share);
  if (framework == nullptr || called_ns > dispatch_ns) return launch;
  Json cause = idle_json(*framework, dispatch_ns, span_ns);
  if (dispatch_ns - idle_of(*framework) >= kNamedBeside * dispatch_ns)
    cause.set("title", "framework dispatch and Python code between launches");
  return after_reads(std::move(cause), gpu, dispatch_ns);
}

Json host_cause(const Json& gpu, double span_ns) {
  Json cause = largest_idle("host", gpu, span_ns);
  const bool dispatch = cause["id"].text() == "framework" || cause["id"].text() == "python";
  // Short pauses of dispatch, each after a wait for the device: the wait is what keeps the host from running ahead.
  const double drained_ns = sum_of(gpu["gaps"], "drained_idle_ns");
  if (dispatch && drained_ns >= kLeads * gpu["bound"]["waiting_ratio"].as_f64().value_or(0) * span_ns)
    return drained_cause(drained_ns, span_ns);
  return dispatch ? after_reads(cause, gpu, cause["idle_ns"].as_f64().value_or(0)) : cause;
}

// The family that took most of the time of the kernels with this limit; any limit where it is empty.
struct Leading {
  std::string family;
  double share = 0;  // of these kernels
};
std::optional<Leading> leading_family(const Json& gpu, std::string_view limit) {
  std::map<std::string, double> times;
  double sum = 0;
  for (const Json& kernel : gpu["kernel_limits"]["kernels"].items()) {
    const std::string family(kernel["family"].text());
    if (family == "collective" || (!limit.empty() && kernel["limit"].text() != limit)) continue;
    const double time = kernel["time_ns"].as_f64().value_or(0);
    times[family] += time;
    sum += time;
  }
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times.end() || sum <= 0 || most->second < kLeads * sum) return std::nullopt;
  return Leading{most->first, most->second / sum};
}

// Kernels that no pattern knows: the one that takes most of their time by its name.
Json unknown_family(const Json& gpu, double share) {
  double sum = 0;
  std::map<std::string, double> times;
  for (const Json& kernel : gpu["kernel_limits"]["kernels"].items()) {
    if (kernel["family"].text() != "other") continue;
    const double time = kernel["time_ns"].as_f64().value_or(0);
    times[std::string(kernel["name"].text())] += time;
    sum += time;
  }
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times.end() || most->second < kLeads * sum) return cause_of("unknown-kernels", "kernels of unknown family", share);
  return cause_of("unknown-kernel", trace::short_kernel_name(most->first) + ", a kernel of unknown family",
                  share * most->second / sum);
}

Json family_cause(const Json& gpu, std::string_view limit, double kernels_share) {
  const auto leading = leading_family(gpu, limit);
  if (!leading) return {};
  const auto named =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Named& one) { return one.family == leading->family; });
  const double share = leading->share * kernels_share;
  if (leading->family == "other") return limit.empty() ? unknown_family(gpu, share) : Json();
  if (named != kFamilies.end()) return cause_of(named->id, named->title, share);
  return cause_of(leading->family, leading->family + " kernels", share);
}

// Sessions of older versions have the copies' own time only, not which of it was exposed.
bool exposed_known(const Json& gpu) {
  for (const Json& one : gpu["copy_kinds"].items())
    if (one["exposed_ns"].as_f64().value_or(0) > 0) return true;
  return false;
}

// Copies of both directions are one cause, unless one direction takes almost all of their time.
Json copy_cause(const Json& gpu) {
  std::map<std::string_view, double> times;  // by id
  std::map<std::string_view, const CopyWords*> longest;
  std::map<std::string_view, double> of_longest;
  std::map<std::string_view, std::map<std::string_view, double>> launchers;  // of each id
  double sum = 0;
  const char* const of_time = exposed_known(gpu) ? "exposed_ns" : "sum_ns";
  for (const Json& one : gpu["copy_kinds"].items()) {
    const double time = one[of_time].as_f64().value_or(0);
    sum += time;
    const auto words =
        std::find_if(kCopies.begin(), kCopies.end(), [&](const CopyWords& known) { return known.kind == one["kind"].text(); });
    if (words == kCopies.end()) continue;
    times[words->id] += time;
    for (const Json& by : one["launched_by"].items())
      launchers[words->id][by["name"].text()] += by["exposed_ns"].as_f64().value_or(0);
    if (time > of_longest[words->id]) of_longest[words->id] = time, longest[words->id] = &*words;
  }
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times.end() || most->second <= 0) return {};
  const bool both = of_longest[most->first] < kOneDirection * most->second;
  std::string title(both ? "copies between the host and the device" : longest[most->first]->title);
  for (const auto& [name, time] : launchers[most->first])
    if (!name.empty() && time > kLeads * most->second) title += ", launched by " + std::string(name);
  return cause_of(most->first, title, gpu["bound"]["copy_ratio"].as_f64().value_or(0) * most->second / sum);
}

Json communication_cause(const Json& straggler, double share) {
  if (const auto rank = straggler["rank"].as_i64())
    return cause_of("straggler", "waiting for rank " + std::to_string(*rank), share);
  return cause_of("exposed-collectives", "exposed collectives", share);
}

// Kernels of unknown limit take most of the span: what else the trace proves to matter, else what the kernels are.
Json beside_unknown(const Json& gpu, double span_ns) {
  const double communication = gpu["bound"]["communication_ratio"].as_f64().value_or(0);
  for (const Json& one : gpu["idle_causes"].items()) {
    const std::string_view of = one["class"].text();
    if ((of != "host" && of != "warmup") || is_weak(one["cause"].text())) continue;
    if (idle_of(one) >= kMatters * span_ns && idle_of(one) >= communication * span_ns)
      return idle_json(one, idle_of(one), span_ns);
  }
  const double kernels = gpu["bound"]["compute_ratio"].as_f64().value_or(0);
  if (communication >= kMatters)
    return cause_of("compute-and-communication", "computing and exposed collectives", kernels + communication);
  Json family = family_cause(gpu, "", kernels);
  if (!family.is_null()) return family;
  return kernels >= kLeads ? cause_of("device-busy", "kernels of several families", kernels) : Json();
}

}  // namespace

double copy_issue_ns(const Json& gpu) {
  for (const Json& gap : gpu["gaps"].items())
    if (gap["cause"].text() == "copy") return gap["issue_idle_ns"].as_f64().value_or(0);
  return 0;
}

const Json* most_frequent_copy(const Json& gpu) {
  const auto& kinds = gpu["copy_kinds"].items();
  const auto count = [](const Json& one) { return one["count"].as_f64().value_or(0); };
  const auto most =
      std::max_element(kinds.begin(), kinds.end(), [&](const Json& a, const Json& b) { return count(a) < count(b); });
  return most == kinds.end() ? nullptr : &*most;
}

Json headline_cause(std::string_view class_id, bool unknown_kernels, const Json& gpu, const Json& straggler, double span_ns) {
  const auto share = [&](std::string_view key) { return gpu["bound"][key].as_f64().value_or(0); };
  if (unknown_kernels) return beside_unknown(gpu, span_ns);
  if (class_id == "warmup") return largest_idle("warmup", gpu, span_ns);
  if (class_id == "host_waiting") return host_cause(gpu, span_ns);
  if (class_id == "dependency_bound") return held_cause(gpu, span_ns);
  if (class_id == "launch_bound") return launch_cause(gpu, span_ns);
  if (class_id == "copy_bound") return copy_cause(gpu);
  if (class_id == "communication_bound" || class_id == "straggler")
    return communication_cause(straggler, straggler["waiting_ratio"].as_f64().value_or(share("communication_ratio")));
  const Json& limits = gpu["kernel_limits"];
  const auto part = [&](std::string_view key) {
    double sum = 0;
    for (const char* one : {"compute_ns", "memory_ns", "unknown_ns"}) sum += limits[one].as_f64().value_or(0);
    return sum > 0 ? share("compute_ratio") * limits[key].as_f64().value_or(0) / sum : 0;
  };
  if (class_id == "compute_bound") return family_cause(gpu, "compute", part("compute_ns"));
  return class_id == "memory_bound" ? family_cause(gpu, "memory", part("memory_ns")) : Json();
}

}  // namespace aaco::workflows
