#include "workflows/session_report/report_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using core::Json;
using report::Decoder;

constexpr std::size_t kNodesOfAPhase = 5;
constexpr double kWideTokenInterval = 0.1;  // relative half width from which the median says little

std::optional<Decoder::Value> value_of(const trace::Metrics& metrics, std::string_view id) {
  const auto* metric = find_metric(metrics, id);
  if (metric == nullptr) return std::nullopt;
  return Decoder::Value{metric->value, metric->ci95};
}

std::optional<Decoder::Predicted> predicted_of(const Json& json) {
  const auto value = json["value"].as_f64();
  if (!value) return std::nullopt;
  return Decoder::Predicted{*value, json["lower"].as_f64().value_or(*value), json["upper"].as_f64().value_or(*value),
                            std::string(json["confidence"].text())};
}

std::optional<double> number_of(const std::optional<Decoder::Value>& value) {
  return value ? std::optional(value->value) : std::nullopt;
}

core::Result<Decoder::Level> decoder_level_of(const Json& json) {
  AACO_ASSIGN(const auto metrics, trace::metrics_from_json(json["metrics"]));
  Decoder::Level level;
  level.load = json["load"].text();
  level.batch = json["batch"].as_i64().value_or(0);
  level.prompt_tokens = json["prompt_tokens"].as_i64().value_or(0);
  level.output_tokens = json["output_tokens"].as_i64().value_or(0);
  level.complete = json["complete"].as_i64().value_or(0);
  level.prefill_ns = value_of(metrics, "llm.ttft_p50_ns");
  level.token_ns = value_of(metrics, "llm.tpot_p50_ns");
  level.prefill_tokens_per_second = value_of(metrics, "llm.prefill_tokens_per_second");
  level.decode_tokens_per_second = value_of(metrics, "llm.decode_tokens_per_second");
  level.predicted_prefill_ns = predicted_of(json["predicted_prefill"]);
  level.predicted_token_ns = predicted_of(json["predicted_decode"]);
  level.cache_bytes = number_of(value_of(metrics, "llm.kv_cache_bytes"));
  level.predicted_cache_bytes = number_of(value_of(metrics, "llm.kv_cache_predicted_bytes"));
  level.rss_bytes = json["rss_bytes"].as_f64();
  return level;
}

std::optional<Decoder::Limit> decode_limit_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  Decoder::Limit limit;
  limit.limit = json["limit"].text();
  limit.text = json["text"].text();
  limit.weight_bytes = json["weight_bytes"].as_f64().value_or(0);
  limit.cache_bytes = json["cache_bytes"].as_f64().value_or(0);
  limit.bytes_per_second = json["bytes_per_s"].as_f64();
  limit.source = json["source"].text();
  limit.weight_floor_ns = json["weight_floor_ns"].as_f64();
  limit.floor_ns = json["floor_ns"].as_f64();
  limit.weight_floor_ratio = json["weight_floor_ratio"].as_f64();
  limit.floor_ratio = json["floor_ratio"].as_f64();
  limit.batch_growth_ratio = json["batch_growth_ratio"].as_f64();
  for (const Json& line : json["evidence"].items()) limit.evidence.emplace_back(line.text());
  return limit;
}

core::Result<std::vector<Decoder::Node>> longest_nodes(const std::string& session_path) {
  std::vector<Decoder::Node> longest;
  const std::string path = core::join_path(session_path, "predict/llm_nodes.json");
  if (!core::exists(path)) return longest;
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  for (const Json& phase : document["phases"].items()) {
    std::vector<Decoder::Node> nodes;
    double all = 0;
    for (const Json& json : phase["nodes"].items()) {
      const double ns = json["predicted_ns"].as_f64().value_or(0) * json["repeat_count"].as_f64().value_or(1);
      all += ns;
      nodes.push_back({std::string(phase["phase"].text()), std::string(json["name"].text()), std::string(json["op_type"].text()),
                       std::string(json["limit"].text()), ns, 0});
    }
    std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.predicted_ns > b.predicted_ns; });
    nodes.resize(std::min(kNodesOfAPhase, nodes.size()));
    for (Decoder::Node& node : nodes) {
      node.share_ratio = all > 0 ? node.predicted_ns / all : 0;
      longest.push_back(std::move(node));
    }
  }
  return longest;
}

// metrics/llm_nodes.json, whose nodes are sorted.
core::Result<std::vector<Decoder::ProfiledNode>> profiled_nodes(const std::string& session_path) {
  std::vector<Decoder::ProfiledNode> longest;
  const std::string path = core::join_path(session_path, "metrics/llm_nodes.json");
  if (!core::exists(path)) return longest;
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  for (const Json& phase : document["phases"].items()) {
    std::size_t taken = 0;
    for (const Json& json : phase["nodes"].items()) {
      if (++taken > kNodesOfAPhase) break;
      longest.push_back({std::string(phase["phase"].text()), std::string(json["name"].text()),
                         std::string(json["op_type"].text()), json["count"].as_i64().value_or(1), json["ns"].as_f64().value_or(0),
                         json["share_ratio"].as_f64().value_or(0), json["predicted_ns"].as_f64()});
    }
  }
  return longest;
}

std::string decoder_confidence(const Decoder& section) {
  if (section.levels.empty() || !section.levels.front().token_ns) return "low: no complete generation";
  const auto& token = *section.levels.front().token_ns;
  if (!token.ci95) return fmt::format("low: too few generations for a CI ({})", section.levels.front().complete);
  const double half = (token.ci95->high - token.ci95->low) / 2 / std::max(1.0, token.value);
  const std::string text =
      fmt::format("{} generations, time per token ± {}", section.levels.front().complete, core::format_percent(half));
  return (half > kWideTokenInterval ? "low: " : "high: ") + text;
}

std::string layout_text(const Json& model) {
  return fmt::format("{} layout, {} layers, {} key/value heads of {}{}", model["layout"].text(),
                     model["layers"].as_i64().value_or(0), model["kv_heads"].as_i64().value_or(0),
                     model["head_size"].as_i64().value_or(0),
                     model["cache_in_place"].as_bool() == true ? ", cache updated in place" : "");
}

}  // namespace

core::Status fill_decoder(report::ReportModel& model, const std::string& session_path) {
  const std::string path = core::join_path(session_path, "metrics/llm_summary.json");
  if (model.session.kind != "llm" || !core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  if (document["mode"].text() != "in_process") return {};
  Decoder section;
  section.summary = document["summary"].text();
  section.layout = layout_text(document["model"]);
  for (const Json& json : document["levels"].items()) {
    AACO_ASSIGN(auto level, decoder_level_of(json));
    section.levels.push_back(std::move(level));
  }
  section.limit = decode_limit_of(document["decode_limit"]);
  AACO_ASSIGN(section.nodes, longest_nodes(session_path));
  AACO_ASSIGN(section.profiled, profiled_nodes(session_path));
  model.verdict =
      section.summary.empty() ? "No level was measured." : fmt::format("{}, {}.", model.session.outcome.model, section.summary);
  model.verdict_confidence = decoder_confidence(section);
  model.headline_metrics.clear();
  for (const char* id : {"llm.ttft_p50_ns", "llm.tpot_p50_ns", "llm.decode_tokens_per_second", "llm.e2el_p50_ns"})
    if (find_metric(model.metrics, id) != nullptr && model.headline_metrics.size() < 3) model.headline_metrics.emplace_back(id);
  model.sections.decoder = std::move(section);
  return {};
}

}  // namespace aaco::workflows
