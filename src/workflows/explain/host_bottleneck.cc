#include "workflows/explain/host_bottleneck.h"

#include <fmt/format.h>

#include <algorithm>

#include "analytics/bottleneck.h"
#include "analytics/confidence.h"
#include "analytics/gpu_bottleneck.h"
#include "core/files.h"
#include "core/numbers.h"
#include "trace/api_domains.h"
#include "tracelake/lake.h"
#include "workflows/explain/no_work.h"

namespace aaco::workflows {
namespace {

using analytics::gaps::CauseBook;
using analytics::gaps::HostShare;
using analytics::gaps::HostWork;
using core::Json;

constexpr std::int64_t kDeviceProgram = 10;  // GPU runtime calls from which on the program uses a GPU
constexpr double kMinShare = 0.3;            // of the span, for a cause to limit it (our own judgement)
constexpr double kMinPython = 0.5;
constexpr double kLikely = 0.75;  // confidence where a cause takes that much, if nothing was judged (our own judgement)

Json document(std::string_view class_id, double confidence, std::string title, std::string meaning, std::string remedy) {
  Json strategies = Json::array();
  if (!remedy.empty()) strategies.push(std::move(remedy));
  return Json::object({{"schema_version", 1},
                       {"bottleneck_class", class_id},
                       {"confidence", confidence},
                       {"title", std::move(title)},
                       {"meaning", std::move(meaning)},
                       {"method", "host_profile"},
                       {"top_evidence", Json::array()},
                       {"optimization_priority", std::move(strategies)},
                       {"ranking", Json::array()},
                       {"recommendations", Json::array()}});
}

Json cause_json(std::string_view id, std::string title, std::string remedy, double time_ns, double span_ns) {
  return Json::object({{"id", id},
                       {"title", std::move(title)},
                       {"remedy", std::move(remedy)},
                       {"time_ns", time_ns},
                       {"span_share_ratio", time_ns / span_ns}});
}

std::int64_t rows_of(const trace::SessionManifest& manifest, std::string_view table) {
  return manifest.outcome.rows[table].as_i64().value_or(0);
}

// A program that uses a GPU, in a trace without the GPU's work: a host profile, or a pass for hardware counters.
Json without_device(const std::string& what) {
  const char* remedy = "trace the GPU's work too (ProfilerActivity.CUDA), without hardware counters";
  Json out = document(analytics::bottleneck::kInconclusive, 0, "undecided",
                      fmt::format("{}, but the trace contains no GPU work: what the device did is not recorded.", what), "");
  return out.set("cause", Json::object({{"id", "no-device-events"}, {"title", "GPU work not recorded"}, {"remedy", remedy}}));
}

// NCCL and RCCL have no ranks without a GPU. A job of several backends may have some.
bool is_of_gpu_job(const trace::SessionManifest& manifest) {
  const auto& files = manifest.outcome.files.items();
  return std::any_of(files.begin(), files.end(),
                     [](const Json& file) { return file["facts"]["distributed"]["backend"].text() == "nccl"; });
}

}  // namespace

Json host_document(const HostWork& work, const CauseBook& book, const OperatorTimes* operator_times) {
  const auto span = static_cast<double>(work.span_ns);
  // Dispatch, Python code and what nothing covers are no limits by themselves.
  const auto strongest = std::find_if(work.shares.begin(), work.shares.end(), [&](const HostShare& share) {
    const auto& cause = book.at(share.cause);
    return !cause.weak && cause.class_id != "cannot-tell";
  });
  const double cause_ns = strongest == work.shares.end() ? 0 : static_cast<double>(strongest->time_ns);
  const auto exposed = static_cast<double>(work.exposed_ns), operators = static_cast<double>(work.operator_ns);
  if (exposed >= std::max(cause_ns, kMinShare * span) && exposed > operators) {
    const char* remedy =
        "overlap collectives with computation, use fewer and larger ones, and find the rank that the others wait for";
    Json out = document("communication_bound", kLikely, "communication",
                        fmt::format("{} collectives take {} of the main thread's time during which it runs no operator.",
                                    work.collective_count, core::format_percent(exposed / span)),
                        remedy);
    return out.set("cause", cause_json("exposed-collectives", "exposed collectives", remedy, exposed, span));
  }
  if (cause_ns > 0 && cause_ns >= std::max(kMinShare * span, operators - cause_ns)) {
    const auto& cause = book.at(strongest->cause);
    Json out = document(cause.class_id == "warmup" ? "warmup" : "host_waiting", kLikely, "host: " + cause.title,
                        "The main thread spends most of its time in one activity that is not the model.", cause.remedy);
    return out.set("cause", cause_json(cause.id, cause.title, cause.remedy, cause_ns, span));
  }
  const auto python = std::find_if(work.shares.begin(), work.shares.end(),
                                   [&](const HostShare& share) { return share.cause == book.own().python; });
  if (python != work.shares.end() && static_cast<double>(python->time_ns) >= std::max(kMinPython * span, operators)) {
    const auto& cause = book.at(python->cause);
    Json out = document("host_waiting", kLikely, "host: " + cause.title,
                        "The main thread spends most of its time outside operators.", cause.remedy);
    return out.set("cause", cause_json(cause.id, cause.title, cause.remedy, static_cast<double>(python->time_ns), span));
  }
  std::string why = fmt::format(
      "The trace contains host operators only ({} of the main thread's time) and no CPU counters: whether "
      "computing, "
      "memory or dispatch limits them is not recorded.",
      core::format_percent(span > 0 ? operators / span : 0));
  if (work.collective_count > 0)
    why += fmt::format(" {} collectives take {}, {} of it exposed.", work.collective_count,
                       core::format_duration(static_cast<double>(work.collective_ns)), core::format_duration(exposed));
  Json out = document(analytics::bottleneck::kInconclusive, 0, "undecided", why, "");
  if (span <= 0 || operators <= 0) return out;
  const char* remedy = "record the run with 'aaco record' for the CPU's counters";
  const auto leading = operator_times != nullptr ? operator_times->leading() : std::nullopt;
  if (leading && leading->computes && leading->share * operators >= kMinShare * span) {
    out.set("bottleneck_class", "compute_bound").set("confidence", kLikely).set("title", "computing on the CPU");
    out.set("meaning", fmt::format("Operators on the CPU take {} of the main thread's time, {} of that in {}.",
                                   core::format_percent(operators / span), core::format_percent(leading->share), leading->title));
  }
  if (leading)
    return out.set("cause", cause_json(leading->id, std::string(leading->title), remedy, leading->share * operators, span));
  return out.set("cause", cause_json("host-operator", "operators on the CPU", remedy, operators, span));
}

core::Result<Json> judge_host(const std::string& path, const trace::SessionManifest& manifest, const core::Paths& paths) {
  const auto has = [&](std::string_view table) { return rows_of(manifest, table) > 0; };
  if (manifest.kind != "import" || has("kernels") || has("copies") || has("node_executions") || has("graph_nodes")) return Json();
  if (!has("calls")) {
    if (has("iterations")) return nothing_to_judge(manifest);
    if (has("counters") || !has("samples")) return Json();
    Json out =
        document(analytics::bottleneck::kInconclusive, 0, "undecided", "The files contain sensor readings but no work.", "");
    return out.set("cause", Json::object({{"id", "no-workload"}, {"title", "no work"}}));
  }
  AACO_ASSIGN(const CauseBook book, CauseBook::load(core::join_path(paths.share, "data/gaps/causes.yaml")));
  trace::NameTable names;
  analytics::gaps::HostProfile profile(book, names);
  OperatorTimes operators(names);
  std::int64_t device_calls = 0;
  CallKinds kinds;
  AACO_TRY(tracelake::scan_table<trace::ApiCallRow>(path, names, [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
    for (const auto& row : rows) {
      profile.add(row);
      operators.add(row);
      device_calls += trace::is_gpu_runtime(names.text(row.domain)) ? 1 : 0;
      kinds.add(names.text(row.domain));
    }
    return {};
  }));
  const HostWork work = profile.finish();
  if (work.operator_count == 0) {
    const bool empty = has("iterations") && kinds.ranges == kinds.count;
    const bool named = kinds.count > 0 && (kinds.allocations == kinds.count || kinds.markers == kinds.count || empty);
    return named ? nothing_to_judge(manifest, kinds) : Json();
  }
  if (device_calls >= kDeviceProgram) return without_device(fmt::format("The program made {} GPU runtime calls", device_calls));
  if (is_of_gpu_job(manifest)) return without_device("The job's ranks communicate through NCCL, which runs on GPUs");
  Json out = host_document(work, book, &operators);
  // Work of a device may be in the part of the file that is missing: computing on the CPU is no answer then.
  if (const auto id = out["bottleneck_class"].text();
      is_cut(manifest) && (id == analytics::bottleneck::kInconclusive || id == "compute_bound"))
    return cut_file();
  if (out["confidence"].as_f64().value_or(0) > 0) {
    AACO_ASSIGN(const auto table, analytics::confidence::Table::load(core::join_path(paths.share, "data/rules/confidence.yaml")));
    out.set("confidence", analytics::bottleneck::headline_confidence(table, analytics::bottleneck::kHostHeadline));
    out.set("evidence_class", analytics::bottleneck::kHostHeadline);
  }
  if (work.collective_count > 0)
    out.set("collectives",
            Json::object({{"count", work.collective_count}, {"time_ns", work.collective_ns}, {"exposed_ns", work.exposed_ns}}));
  return out;
}

}  // namespace aaco::workflows
