#include "workflows/import/import_totals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analytics/fingerprint.h"
#include "core/files.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr const char* kSummary = "profiler/kernel_summary.json";
constexpr const char* kStatistics = "statistics";
constexpr const char* kSamples = "program_counter_samples";

struct Total {
  std::int64_t count = 0, sum_ns = 0;
  std::optional<std::int64_t> min_ns, max_ns;  // only where every file says it
  bool counted = false;
};
using Totals = std::map<std::pair<std::string, std::string>, Total>;  // by subject and name

template <class Better>
std::optional<std::int64_t> joined(const Total& total, std::optional<std::int64_t> old, std::optional<std::int64_t> value,
                                   Better better) {
  if (!total.counted) return value;
  return old && value ? std::optional(better(*old, *value)) : std::nullopt;
}

void add(Totals& totals, const Json& statistics) {
  for (const Json& entry : statistics["entries"].items()) {
    Total& total = totals[{std::string(statistics["subject"].text()), std::string(entry["name"].text())}];
    total.min_ns = joined(total, total.min_ns, entry["minimum_ns"].as_i64(), [](auto a, auto b) { return std::min(a, b); });
    total.max_ns = joined(total, total.max_ns, entry["maximum_ns"].as_i64(), [](auto a, auto b) { return std::max(a, b); });
    total.counted = true;
    std::int64_t count = 0, sum_ns = 0;
    if (__builtin_add_overflow(total.count, entry["calls"].as_i64().value_or(0), &count) ||
        __builtin_add_overflow(total.sum_ns, entry["total_ns"].as_i64().value_or(0), &sum_ns))
      continue;
    total.count = count;
    total.sum_ns = sum_ns;
  }
}

Json to_json(const std::string& name, const Total& total) {
  Json out = Json::object({{"name", name}, {"count", total.count}, {"sum_ns", total.sum_ns}});
  if (total.count > 0) out.set("mean_ns", static_cast<double>(total.sum_ns) / static_cast<double>(total.count));
  out.set_if("min_ns", Json(total.min_ns));
  out.set_if("max_ns", Json(total.max_ns));
  return out;
}

void largest_first(Json& list) {
  std::stable_sort(list.mutable_items().begin(), list.mutable_items().end(), [](const Json& a, const Json& b) {
    return a["sum_ns"].as_i64().value_or(0) > b["sum_ns"].as_i64().value_or(0);
  });
}

std::int64_t samples_of(const Json& entry) { return entry["samples"].as_i64().value_or(0); }

// Entries that differ in their number of samples only become one.
Json joined_samples(const Json& list, const Json& more) {
  std::map<std::string, Json> known;
  for (const Json* each : {&list, &more})
    for (Json entry : each->items()) {
      const std::int64_t number = samples_of(entry);
      const std::string key = entry.set("samples", 0).dump(-1);
      const auto place = known.try_emplace(key, std::move(entry)).first;
      place->second.set("samples", samples_of(place->second) + number);
    }
  Json out = Json::array();
  for (auto& [key, entry] : known) out.push(std::move(entry));
  std::stable_sort(out.mutable_items().begin(), out.mutable_items().end(),
                   [](const Json& a, const Json& b) { return samples_of(a) > samples_of(b); });
  return out;
}

// Samples of all files; times, types and numbers of different ones are those of the first.
void add_samples(Json& samples, const Json& more) {
  if (samples.is_null()) {
    samples = more;
    return;
  }
  samples.set("samples", samples_of(samples) + samples_of(more));
  for (const char* key : {"instructions", "dispatches"})
    if (Json list = joined_samples(samples[key], more[key]); !list.items().empty()) samples.set(key, std::move(list));
}

// The kernels that the sampled dispatches ran, where the session has them.
core::Status name_dispatches(const std::string& session_path, Json& samples) {
  std::unordered_map<std::uint64_t, std::int64_t> sampled;
  for (const Json& entry : samples["dispatches"].items()) sampled[entry["dispatch_id"].as_u64().value_or(0)] += samples_of(entry);
  if (sampled.empty()) return {};
  trace::NameTable names;
  std::map<std::string, std::int64_t> kernels;
  AACO_TRY(
      tracelake::scan_table<trace::KernelRow>(session_path, names, [&](std::span<const trace::KernelRow> rows) -> core::Status {
        for (const auto& row : rows) {
          const auto found = sampled.find(row.dispatch_id);
          if (found == sampled.end()) continue;
          kernels[std::string(names.text(row.name))] += found->second;
          sampled.erase(found);
        }
        return {};
      }));
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  for (const auto& [name, count] : kernels) ordered.emplace_back(-count, name);
  std::sort(ordered.begin(), ordered.end());
  Json list = Json::array();
  for (const auto& [count, name] : ordered) list.push(Json::object({{"name", name}, {"samples", -count}}));
  if (!list.items().empty()) samples.set("kernels", std::move(list));
  return {};
}

// The long lists leave the facts; what is counted of them stays.
Json take_lists(Json& files, const char* fact, const char* list) {
  Json taken = Json::array();
  for (Json& file : files.mutable_items()) {
    if (!file["facts"][fact].is_object()) continue;
    taken.push(file["facts"][fact]);
    Json rest = file["facts"][fact];
    rest.set(list, static_cast<long long>(rest[list].items().size()));
    Json facts = file["facts"];
    facts.set(fact, std::move(rest));
    file.set("facts", std::move(facts));
  }
  return taken;
}

void warn_of_totals(bool kernels, bool samples, SessionDraft& draft) {
  if (kernels)
    draft.warn("import.totals_only",
               "the files contain kernel totals but no events: timeline, busy time, gaps, order and iterations are unavailable",
               "also import the trace (rocprofv3 *_kernel_trace.csv, rocprof results.csv)");
  else if (samples)
    draft.warn("import.samples_only",
               "the files contain PC samples but no kernel durations: they show where waves were, not how long kernels ran",
               "also import *_kernel_trace.csv of the same run to get samples per kernel");
}

}  // namespace

bool has_totals(const Read& read) {
  return std::any_of(read.results.begin(), read.results.end(), [](const auto& result) {
    return !result.facts[kStatistics]["entries"].items().empty() || result.facts[kSamples].is_object();
  });
}

core::Result<trace::Metrics> store_totals(Read& read, const ImportCounts& counts, SessionDraft& draft, const Services& services) {
  trace::Metrics metrics;
  if (!has_totals(read)) return metrics;
  AACO_ASSIGN(const auto book, analytics::fingerprint::PatternBook::load(core::join_path(services.paths.share, "data/kernels")));
  Totals totals;
  const Json all_statistics = take_lists(read.files, kStatistics, "entries"),
             all_samples = take_lists(read.files, kSamples, "dispatches");
  for (const Json& statistics : all_statistics.items()) add(totals, statistics);
  Json samples;
  for (const Json& more : all_samples.items()) add_samples(samples, more);
  AACO_TRY(name_dispatches(draft.writer().path(), samples));

  Json kernels = Json::array(), calls = Json::array();
  double count = 0, sum_ns = 0, known_ns = 0;
  for (const auto& [key, total] : totals) {
    Json entry = to_json(key.second, total);
    if (key.first != "kernel") {
      calls.push(std::move(entry.set("domain", key.first)));
      continue;
    }
    const auto print = book.classify(key.second);
    entry.set("family", analytics::fingerprint::to_string(print.family)).set("library", print.library);
    entry.set_if("parameters", print.parameters);
    kernels.push(std::move(entry));
    count += static_cast<double>(total.count);
    sum_ns += static_cast<double>(total.sum_ns);
    if (print.family != analytics::fingerprint::Family::other) known_ns += static_cast<double>(total.sum_ns);
  }
  largest_first(kernels);
  largest_first(calls);
  const bool kernels_only = counts.kernels == 0 && !kernels.items().empty();
  if (kernels_only) {
    metrics.push_back({"gpu.kernel_count", count, "count", {}, {}});
    metrics.push_back({"gpu.kernel_sum_ns", sum_ns, "ns", {}, {}});
    if (sum_ns > 0) metrics.push_back({"fingerprint.time_coverage_ratio", known_ns / sum_ns, "ratio", {}, {}});
  }
  warn_of_totals(kernels_only, samples.is_object() && counts.kernels == 0, draft);
  Json of_totals = Json::object({{"kernel_names", static_cast<long long>(kernels.items().size())},
                                 {"call_names", static_cast<long long>(calls.items().size())}});
  of_totals.set_if("samples", samples["samples"]);
  draft.manifest().outcome.totals = std::move(of_totals);
  Json document = Json::object({{"schema_version", 1}, {"kernels", std::move(kernels)}, {"calls", std::move(calls)}});
  document.set_if("samples", std::move(samples));
  AACO_TRY(draft.writer().write_json(kSummary, document));
  return metrics;
}

core::Result<Json> read_kernel_summary(const std::string& session_path) {
  const std::string path = core::join_path(session_path, kSummary);
  if (!core::exists(path)) return Json();
  return core::read_json_file(path);
}

}  // namespace aaco::workflows
