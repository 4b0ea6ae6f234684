#include "workflows/explain/no_work.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analytics/bottleneck.h"

namespace aaco::workflows {
namespace {

using core::Json;

struct Reason {
  std::string_view id, text, remedy;
};

constexpr Reason kSampled = {"sampled", "The files contain samples of instructions: where waves were, not how long kernels ran.",
                             "import the kernel trace of the same run too"};
constexpr Reason kStatistics = {"statistics", "The files contain totals by name: no order, no gaps and no busy time.",
                                "import the trace that the totals were made from"};
constexpr Reason kCounters = {"counter-pass", "The files contain hardware counters without times: no timeline.",
                              "trace one run of the program without counters"};
constexpr Reason kAllocations = {"allocations-only", "The files contain allocations of device memory and no work of a device.",
                                 "also trace kernels, and import that file together with these"};
constexpr Reason kMarkers = {"markers-only", "The files contain markers of the program and no work of a device.",
                             "also trace kernels, and import that file together with these"};
constexpr Reason kHostCalls = {"host-calls-only", "The files contain host calls and no work of a device.",
                               "also trace kernels, and import that file together with these"};
constexpr Reason kEmptyRegion = {"empty-region",
                                 "The files contain steps and nothing that ran in them: no operators, no runtime calls, no work "
                                 "of a device.",
                                 "check that the profiled region contains the work, and that it ends after a synchronisation"};
constexpr Reason kNoTimes = {"no-times", "The files contain a program without times: nothing ran.",
                             "measure it, and import that file"};
constexpr Reason kNoWork = {"no-workload", "The files contain sensor readings but no work.", "import a trace of the same time"};

constexpr Reason kCut = {
    "cut-file",
    "The file is truncated: it contains host calls up to the cut and no work of a device, which may have been "
    "in the part that is missing.",
    "export the trace again, or copy the complete file"};

const Reason* reason_of(const trace::SessionManifest& manifest, const CallKinds& calls) {
  const auto has = [&](std::string_view key) { return manifest.outcome.rows[key].as_i64().value_or(0) > 0; };
  const Json& totals = manifest.outcome.totals;
  if (has("kernels") || has("copies") || has("node_executions")) return nullptr;
  if (has("iterations")) {
    const bool ran = has("calls") && (calls.count == 0 || calls.ranges < calls.count);
    return ran || has("counters") || has("samples") || has("graph_nodes") ? nullptr : &kEmptyRegion;
  }
  if (totals["samples"].as_i64().value_or(0) > 0) return &kSampled;
  if (totals["kernel_names"].as_i64().value_or(0) + totals["call_names"].as_i64().value_or(0) > 0) return &kStatistics;
  if (has("counters")) return &kCounters;
  if (has("calls")) return &kHostCalls;
  if (has("graph_nodes")) return &kNoTimes;
  return has("samples") ? &kNoWork : nullptr;
}

Json document_of(const Reason& reason) {
  return Json::object({{"schema_version", 1},
                       {"bottleneck_class", analytics::bottleneck::kInconclusive},
                       {"confidence", 0},
                       {"title", "undecided"},
                       {"meaning", reason.text},
                       {"method", "contents"},
                       {"top_evidence", Json::array()},
                       {"optimization_priority", Json::array()},
                       {"ranking", Json::array()},
                       {"recommendations", Json::array()},
                       {"cause", Json::object({{"id", reason.id}, {"title", reason.text}, {"remedy", reason.remedy}})}});
}

}  // namespace

Json cut_file() { return document_of(kCut); }

bool is_cut(const trace::SessionManifest& manifest) {
  return std::any_of(manifest.accounts.begin(), manifest.accounts.end(), [](const trace::Account& one) {
    return one.state == trace::Account::State::partial && one.reason.starts_with("truncated");
  });
}

Json nothing_to_judge(const trace::SessionManifest& manifest, const CallKinds& calls) {
  if (manifest.kind != "import") return {};
  const Reason* reason = reason_of(manifest, calls);
  if (reason == nullptr) return {};
  if (reason == &kHostCalls && is_cut(manifest)) return cut_file();
  if (reason == &kHostCalls && calls.count > 0 && calls.allocations == calls.count) reason = &kAllocations;
  if (reason == &kHostCalls && calls.count > 0 && calls.markers == calls.count) reason = &kMarkers;
  return document_of(*reason);
}

}  // namespace aaco::workflows
