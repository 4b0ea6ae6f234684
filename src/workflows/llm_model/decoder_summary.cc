#include "workflows/llm_model/decoder_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analytics/llm.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using analytics::llm::Load;
using core::Json;

// Of a load's metrics those that mean the same here; there is no client between the request and the model.
constexpr std::array<std::string_view, 6> kKept = {"llm.ttft_", "llm.tpot_",         "llm.itl_",
                                                   "llm.e2el_", "llm.request_count", "llm.requests_per_second"};

void put(trace::Metrics& metrics, std::string id, double value, std::string unit, std::optional<trace::Interval> ci95 = {}) {
  metrics.push_back({std::move(id), value, std::move(unit), ci95, {}});
}

// `tokens` per time: the interval of the time, turned over.
void put_rate(trace::Metrics& metrics, std::string id, double tokens, const std::optional<stats::Quantile>& time) {
  if (!time || time->value <= 0) return;
  std::optional<trace::Interval> ci95;
  if (time->ci95 && time->ci95->low > 0) ci95 = trace::Interval{tokens * 1e9 / time->ci95->high, tokens * 1e9 / time->ci95->low};
  put(metrics, std::move(id), tokens * 1e9 / time->value, "1/s", ci95);
}

trace::Metrics metrics_of(const Load& load, const LevelRun& run, const DecoderPlan& plan) {
  trace::Metrics metrics;
  for (auto& metric : analytics::llm::metrics_of(load, {}))
    if (metric.id.find("_sent_") == std::string::npos &&
        std::any_of(kKept.begin(), kKept.end(), [&](std::string_view kept) { return metric.id.starts_with(kept); }))
      metrics.push_back(std::move(metric));
  const auto batch = static_cast<double>(run.level.batch);
  const auto& rates = load.steady ? *load.steady : load.rates;
  if (rates.output_tokens_per_second)
    put(metrics, "llm.output_tokens_per_second", batch * *rates.output_tokens_per_second, "1/s");
  put_rate(metrics, "llm.prefill_tokens_per_second", batch * static_cast<double>(run.level.prompt), load.ttft.p50);
  put_rate(metrics, "llm.decode_tokens_per_second", batch, load.tpot.p50);
  if (run.cache_tokens > 0) {
    put(metrics, "llm.kv_cache_bytes", static_cast<double>(run.cache_bytes), "bytes");
    put(metrics, "llm.kv_cache_predicted_bytes",
        static_cast<double>(plan.layout.cache_bytes(run.level.batch, plan.in_place ? run.level.cached() : run.cache_tokens)),
        "bytes");
  }
  return metrics;
}

std::optional<double> runtime_ratio(const LevelRun& run) {
  double all = 0, inside = 0;
  for (const Generation& generation : run.generations)
    for (std::size_t i = 1; i < generation.steps.size(); ++i) {
      all += static_cast<double>(generation.steps[i].end_ns - generation.steps[i].start_ns);
      inside += static_cast<double>(generation.steps[i].run_ns);
    }
  return all > 0 ? std::optional(inside / all) : std::nullopt;
}

std::string sentence_of(const LevelRun& run, const Load& load) {
  const auto per_second = [](double value) { return value < 100 ? fmt::format("{:.1f}", value) : core::format_count(value); };
  const auto batch = static_cast<double>(run.level.batch);
  std::string text = fmt::format("batch {}: ", run.level.batch);
  if (!load.ttft.p50) return text + "no complete generation";
  text += fmt::format("prefill of {} tokens {} ({} tokens/s)", run.level.prompt, core::format_duration(load.ttft.p50->value),
                      per_second(batch * static_cast<double>(run.level.prompt) * 1e9 / load.ttft.p50->value));
  if (load.tpot.p50)
    text += fmt::format(", decode {} per token ({} tokens/s)", core::format_duration(load.tpot.p50->value),
                        per_second(batch * 1e9 / load.tpot.p50->value));
  return text;
}

Json layout_json(const DecoderPlan& plan) {
  const auto& layout = plan.layout;
  Json out = Json::object({{"layout", to_string(layout.family)},
                           {"layers", layout.layers},
                           {"kv_heads", layout.kv_heads},
                           {"head_size", layout.cache.front().head_size},
                           {"cache_type", to_string(layout.cache_type)},
                           {"cache_in_place", plan.in_place},
                           {"cache_bytes_per_token", layout.cache_bytes(1, 1)}});
  return out.set_if("max_positions", layout.max_positions).set_if("vocabulary", layout.vocabulary);
}

Json level_json(const LevelRun& run, const Load& load, trace::Metrics metrics, const std::optional<LevelPrediction>& predicted) {
  Json out = Json::object({{"load", run.level.name},
                           {"batch", run.level.batch},
                           {"prompt_tokens", run.level.prompt},
                           {"output_tokens", run.level.output},
                           {"requests", load.requests},
                           {"complete", load.complete},
                           {"cancelled", load.cancelled},
                           {"metrics", trace::to_json(metrics)}});
  out.set_if("rss_bytes", run.rss_bytes);
  if (predicted && predicted->prefill) out.set("predicted_prefill", estimation::to_json(predicted->prefill->latency));
  if (predicted && predicted->decode) out.set("predicted_decode", estimation::to_json(predicted->decode->latency));
  return out;
}

Json verdict_json(const analytics::llm::DecodeVerdict& verdict, const DecoderFacts& facts, double cache_bytes) {
  Json out = Json::object({{"limit", to_string(verdict.limit)},
                           {"text", verdict.sentence},
                           {"weight_bytes", facts.weight_bytes},
                           {"cache_bytes", cache_bytes},
                           {"evidence", Json::texts(verdict.evidence)}});
  if (facts.bandwidth) out.set("bytes_per_s", facts.bandwidth->bytes_per_s).set("source", facts.bandwidth->source);
  out.set_if("weight_floor_ns", verdict.weight_floor_ns).set_if("floor_ns", verdict.floor_ns);
  out.set_if("weight_floor_ratio", verdict.weight_floor_ratio).set_if("floor_ratio", verdict.floor_ratio);
  return out.set_if("batch_growth_ratio", verdict.batch_growth_ratio);
}

using Loads = std::map<std::string, Load>;

analytics::llm::DecodeEvidence evidence_of(const std::vector<LevelRun>& runs, const Loads& loads, const DecoderPlan& plan,
                                           const DecoderFacts& facts) {
  analytics::llm::DecodeEvidence evidence;
  const LevelRun& main = runs.front();
  evidence.batch = main.level.batch;
  const std::int64_t context = main.level.prompt + (main.level.output - 1) / 2;
  evidence.bytes = {facts.weight_bytes, static_cast<double>(plan.layout.cache_bytes(main.level.batch, context))};
  evidence.bandwidth = facts.bandwidth;
  if (!facts.predicted.empty() && facts.predicted.front()) evidence.memory_share = facts.predicted.front()->memory_share;
  evidence.runtime_ratio = runtime_ratio(main);
  evidence.disturbed_ratio = facts.disturbed_ratio;
  for (const LevelRun& run : runs) {
    const auto load = loads.find(run.level.name);
    if (load == loads.end() || !load->second.tpot.p50) continue;
    if (run.level.main) evidence.tpot_ns = load->second.tpot.p50->value;
    if (run.level.prompt == main.level.prompt) evidence.batches.push_back({run.level.batch, load->second.tpot.p50->value});
  }
  return evidence;
}

void add_whole(DecoderSummary& summary, const LevelRun& main, const analytics::llm::DecodeVerdict& verdict,
               const DecoderFacts& facts) {
  put(summary.metrics, "llm.weight_bytes", facts.weight_bytes, "bytes");
  if (verdict.weight_floor_ratio) put(summary.metrics, "llm.weight_floor_ratio", *verdict.weight_floor_ratio, "ratio");
  if (verdict.floor_ratio) put(summary.metrics, "llm.bandwidth_floor_ratio", *verdict.floor_ratio, "ratio");
  if (facts.joules_per_generation)
    put(summary.metrics, "llm.energy_per_token_joules",
        *facts.joules_per_generation / static_cast<double>(main.level.batch * main.level.output), "J");
}

}  // namespace

DecoderSummary summarize_decoder(const std::vector<LevelRun>& runs, const trace::MemorySink& written, const DecoderPlan& plan,
                                 const DecoderFacts& facts) {
  DecoderSummary summary;
  Loads loads;
  for (auto& load : analytics::llm::measure_loads(written.rows<trace::LlmRequestRow>(), written.rows<trace::LlmChunkRow>(),
                                                  written.names(), {}))
    loads.emplace(load.name, std::move(load));
  Json levels = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto found = loads.find(runs[i].level.name);
    const Load load = found == loads.end() ? Load{} : found->second;
    trace::Metrics metrics = metrics_of(load, runs[i], plan);
    if (runs[i].level.main) {
      summary.metrics = metrics;
      summary.sentence = sentence_of(runs[i], load);
    }
    levels.push(level_json(runs[i], load, std::move(metrics), i < facts.predicted.size() ? facts.predicted[i] : std::nullopt));
  }
  summary.document = Json::object({{"schema_version", 1}, {"mode", "in_process"}, {"model", layout_json(plan)}});
  if (!runs.empty()) {
    const auto evidence = evidence_of(runs, loads, plan, facts);
    const auto verdict = judge_decode(evidence);
    add_whole(summary, runs.front(), verdict, facts);
    summary.document.set("counts", runs.front().level.name)
        .set("decode_limit", verdict_json(verdict, facts, evidence.bytes.cache));
    if (evidence.tpot_ns > 0) {
      summary.sentence += "; " + verdict.sentence;
      summary.causes = verdict.evidence;
    }
  }
  summary.document.set("summary", summary.sentence).set("levels", std::move(levels));
  return summary;
}

}  // namespace aaco::workflows
