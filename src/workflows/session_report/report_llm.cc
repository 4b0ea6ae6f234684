#include "workflows/session_report/report_llm.h"

#include <fmt/format.h>

#include <algorithm>

#include "analytics/llm_slow.h"
#include "core/files.h"
#include "core/numbers.h"
#include "tracelake/lake.h"
#include "workflows/session_report/report_series.h"

namespace aaco::workflows {
namespace {

using core::Json;
using report::Llm;

constexpr std::size_t kSlowRequests = 5;
constexpr double kWideInterval = 0.25;    // relative half width from which a median says little
constexpr std::size_t kMaxChunks = 2000;  // of a slow request's timeline

std::string cause_text(std::string_view id) { return std::string(analytics::llm::text_of_cause(id == "unexplained" ? "" : id)); }

core::Result<Llm::Level> level_of(const Json& json) {
  Llm::Level level{.load = std::string(json["load"].text()),
                   .requests = json["requests"].as_i64().value_or(0),
                   .complete = json["complete"].as_i64().value_or(0),
                   .retries = json["retries"].as_i64().value_or(0),
                   .usage_rejected = json["usage_rejected"].as_i64().value_or(0),
                   .failures = {},
                   .metrics = {},
                   .client_limit = {},
                   .client_verdict = {},
                   .vouched_per_second = json["client"]["vouched_per_second"].as_f64(),
                   .client_unknown = !json["client"]["loop_lag_p50_ns"].as_f64().has_value(),
                   .partly_judged = std::string(json["partly_judged"].text()),
                   .handshakes = std::string(json["connections"]["text"].text()),
                   .connection_waits = {},
                   .server_causes = {},
                   .slow_tokens = json["slow_tokens"]["slow_first_tokens"].as_i64().value_or(0) +
                                  json["slow_tokens"]["slow_gaps"].as_i64().value_or(0),
                   .slow_causes = {}};
  for (const auto& [kind, failure] : json["failures"].members())
    level.failures.emplace_back(kind, failure["count"].as_i64().value_or(0));
  AACO_ASSIGN(level.metrics, trace::metrics_from_json(json["metrics"]));
  for (const Json& reason : json["client"]["reasons"].items()) level.client_limit.emplace_back(reason.text());
  if (!level.client_limit.empty())
    level.client_verdict =
        verdict_of(analytics::llm::OwnLimit{.saturated = json["client"]["saturated"].as_bool().value_or(true)});
  for (const Json& moved : json["connections"]["moved"].items()) level.connection_waits.emplace_back(moved.text());
  for (const Json& cause : json["server"]["causes"].items()) level.server_causes.emplace_back(cause.text());
  for (const auto& [cause, count] : json["slow_tokens"]["causes"].members())
    level.slow_causes.emplace_back(cause_text(cause), count.as_i64().value_or(0));
  std::stable_sort(level.slow_causes.begin(), level.slow_causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return level;
}

// Of the slowest token of each request that has one.
void add_causes(std::vector<Llm::SlowRequest>& slow, const Json& levels) {
  for (Llm::SlowRequest& request : slow)
    for (const Json& level : levels.items())
      for (const Json& one : level["slow_tokens"]["longest"].items())
        if (request.cause.empty() && one["request"].as_i64() == request.request && !one["cause"].text().empty())
          request.cause = cause_text(one["cause"].text());
}

std::vector<Llm::SlowRequest> slowest(std::vector<trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::erase_if(requests, [&](const auto& row) { return names.text(row.phase) != "measure" || names.text(row.outcome) != "ok"; });
  const std::size_t count = std::min(kSlowRequests, requests.size());
  std::partial_sort(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(count), requests.end(),
                    [](const auto& a, const auto& b) { return a.end_ns - a.scheduled_ns > b.end_ns - b.scheduled_ns; });
  std::vector<Llm::SlowRequest> slow;
  for (std::size_t i = 0; i < count; ++i) {
    const trace::LlmRequestRow& row = requests[i];
    Llm::SlowRequest request{.request = row.request,
                             .load = std::string(names.text(row.load)),
                             .e2el_ns = static_cast<double>(row.end_ns - row.scheduled_ns)};
    request.output_tokens = row.output_tokens;
    request.resent = row.retries + row.reconnects;
    if (row.sent_ns) request.client_queue_ns = static_cast<double>(*row.sent_ns - row.scheduled_ns);
    if (row.sent_ns && row.first_token_ns) request.first_token_ns = static_cast<double>(*row.first_token_ns - *row.sent_ns);
    slow.push_back(std::move(request));
  }
  return slow;
}

void add_chunks(std::vector<Llm::SlowRequest>& slow, const std::vector<trace::LlmRequestRow>& requests,
                const std::vector<trace::LlmChunkRow>& chunks, const trace::NameTable& names) {
  for (Llm::SlowRequest& request : slow) {
    const auto row =
        std::find_if(requests.begin(), requests.end(), [&](const auto& one) { return one.request == request.request; });
    for (const trace::LlmChunkRow& chunk : chunks) {
      const auto kind = names.text(chunk.kind);
      if (chunk.request != request.request || (kind != "content" && kind != "reasoning" && kind != "tool_call")) continue;
      const auto time = static_cast<double>(chunk.time_ns - row->scheduled_ns);
      if (!request.chunk_ns.empty())
        request.longest_gap_ns = std::max(request.longest_gap_ns.value_or(0), time - request.chunk_ns.back());
      if (request.chunk_ns.size() < kMaxChunks) request.chunk_ns.push_back(time);
    }
  }
}

// Requests as iterations, level by level: only those of the level that counts are measured iterations of the report, whose
// distribution would otherwise be of several loads at once.
void separate_levels(report::ReportModel& model, const Llm& section, const std::vector<trace::LlmRequestRow>& requests,
                     trace::NameTable& names, std::int64_t origin_ns) {
  if (section.levels.size() < 2) return;
  std::vector<trace::IterationRow> rows;
  std::vector<double> counted;
  for (const trace::LlmRequestRow& request : requests) {
    if (names.text(request.outcome) != "ok") continue;
    const bool counts = names.text(request.load) == section.counts, measured = names.text(request.phase) == "measure";
    trace::IterationRow row{.iteration = request.request, .phase = counts || !measured ? request.phase : request.load};
    row.start_ns = request.scheduled_ns;
    row.duration_ns = request.end_ns - request.scheduled_ns;
    if (counts && measured) counted.push_back(static_cast<double>(row.duration_ns));
    rows.push_back(row);
  }
  model.iterations = iteration_points(rows, names, origin_ns);
  model.histogram = histogram(counted);
}

// llama.cpp names a model by the path of its file.
std::string shown_name(const std::string& model) { return model.starts_with('/') ? core::base_name(model) : model; }

std::string confidence_of(const report::ReportModel& model, const Llm& section) {
  std::string elsewhere;  // at a level that is not the headline's
  for (const Llm::Level& level : section.levels) {
    const bool counts = section.counts.empty() || level.load == section.counts;
    if (level.client_limit.empty() && level.client_unknown) {
      if (counts) return "low: the client's own state is unknown (not recorded)";
      elsewhere = fmt::format("medium: at {} the client's own state was not recorded", level.load);
    }
    if (level.client_limit.empty()) continue;
    if (counts) return fmt::format("low: {}: {}", level.client_verdict, level.client_limit.front());
    elsewhere = fmt::format("medium: at {} {}: {}", level.load, level.client_verdict, level.client_limit.front());
  }
  const auto* ttft = find_metric(model.metrics, "llm.ttft_p50_ns");
  if (ttft == nullptr || !ttft->ci95) return "low: too few requests for a CI";
  const double half = (ttft->ci95->high - ttft->ci95->low) / 2 / std::max(1.0, ttft->value);
  if (half > kWideInterval)
    return fmt::format("low: the median TTFT is between {} and {} (95 % CI)", core::format_duration(ttft->ci95->low),
                       core::format_duration(ttft->ci95->high));
  return elsewhere.empty() ? "high: the client had room at every level" : elsewhere;
}

}  // namespace

core::Status fill_llm(report::ReportModel& model, const std::string& session_path, std::int64_t origin_ns) {
  const std::string path = core::join_path(session_path, "metrics/llm_summary.json");
  if (model.session.kind != "llm" || !core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  if (document["mode"].text() == "in_process") return {};  // report_decoder.cc
  Llm section{.summary = std::string(document["summary"].text()),
              .slo = std::string(document["slo"].text()),
              .knee = std::string(document["knee"].text()),
              .counts = std::string(document["counts"].text()),
              .levels = {},
              .slow = {}};
  for (const Json& json : document["levels"].items()) {
    AACO_ASSIGN(auto level, level_of(json));
    section.levels.push_back(std::move(level));
  }
  trace::NameTable names;
  AACO_ASSIGN(const auto requests, tracelake::read_table<trace::LlmRequestRow>(session_path, names));
  AACO_ASSIGN(const auto chunks, tracelake::read_table<trace::LlmChunkRow>(session_path, names));
  separate_levels(model, section, requests, names, origin_ns);
  section.slow = slowest(requests, names);
  add_chunks(section.slow, requests, chunks, names);
  add_causes(section.slow, document["levels"]);
  model.verdict = fmt::format("{}: {}.", shown_name(model.session.outcome.model), section.summary);
  model.verdict_confidence = confidence_of(model, section);
  model.headline_metrics.clear();
  for (const char* id :
       {"llm.ttft_p99_ns", "llm.ttft_p50_ns", "llm.tpot_p50_ns", "llm.requests_per_second", "llm.availability_ratio"})
    if (find_metric(model.metrics, id) != nullptr && model.headline_metrics.size() < 3) model.headline_metrics.emplace_back(id);
  model.sections.llm = std::move(section);
  return {};
}

}  // namespace aaco::workflows
