#include "report/decoder_section.h"

#include <utility>

namespace aaco::report {
namespace {

using core::Json;

void set_value(Json& out, const std::string& key, const std::optional<Decoder::Value>& value) {
  if (!value) return;
  Json one = Json::object({{"value", value->value}});
  if (value->ci95) one.set("ci95", Json::array({value->ci95->low, value->ci95->high}));
  out.set(key, std::move(one));
}

void set_predicted(Json& out, const std::string& key, const std::optional<Decoder::Predicted>& predicted) {
  if (!predicted) return;
  out.set(
      key,
      Json::object(
          {{"value", predicted->value}, {"lower", predicted->lower}, {"upper", predicted->upper}, {"level", predicted->level}}));
}

Json to_json(const Decoder::Level& level) {
  Json out = Json::object({{"load", level.load},
                           {"batch", level.batch},
                           {"prompt_tokens", level.prompt_tokens},
                           {"output_tokens", level.output_tokens},
                           {"complete", level.complete}});
  for (const auto& [key, value] : {std::pair("prefill_ns", &level.prefill_ns), std::pair("token_ns", &level.token_ns),
                                   std::pair("prefill_tokens_per_second", &level.prefill_tokens_per_second),
                                   std::pair("decode_tokens_per_second", &level.decode_tokens_per_second)})
    set_value(out, key, *value);
  set_predicted(out, "predicted_prefill_ns", level.predicted_prefill_ns);
  set_predicted(out, "predicted_token_ns", level.predicted_token_ns);
  for (const auto& [key, bytes] :
       {std::pair("cache_bytes", &level.cache_bytes), std::pair("predicted_cache_bytes", &level.predicted_cache_bytes),
        std::pair("rss_bytes", &level.rss_bytes)})
    out.set_if(key, *bytes);
  return out;
}

Json to_json(const Decoder::Limit& limit) {
  Json out = Json::object({{"limit", limit.limit},
                           {"text", limit.text},
                           {"weight_bytes", limit.weight_bytes},
                           {"cache_bytes", limit.cache_bytes},
                           {"evidence", Json::texts(limit.evidence)}});
  out.set_if("bytes_per_second", limit.bytes_per_second);
  if (!limit.source.empty()) out.set("source", limit.source);
  out.set_if("weight_floor_ns", limit.weight_floor_ns).set_if("floor_ns", limit.floor_ns);
  out.set_if("weight_floor_ratio", limit.weight_floor_ratio).set_if("floor_ratio", limit.floor_ratio);
  return out.set_if("batch_growth_ratio", limit.batch_growth_ratio);
}

Json to_json(const Decoder::Node& node) {
  return Json::object({{"phase", node.phase},
                       {"name", node.name},
                       {"op_type", node.op_type},
                       {"limit", node.limit},
                       {"predicted_ns", node.predicted_ns},
                       {"share_ratio", node.share_ratio}});
}

Json to_json(const Decoder::ProfiledNode& node) {
  Json out = Json::object({{"phase", node.phase},
                           {"name", node.name},
                           {"op_type", node.op_type},
                           {"count", node.count},
                           {"ns", node.ns},
                           {"share_ratio", node.share_ratio}});
  return out.set_if("predicted_ns", node.predicted_ns);
}

}  // namespace

Json to_json(const Decoder& section) {
  Json levels = Json::array(), nodes = Json::array(), profiled = Json::array();
  for (const Decoder::Level& level : section.levels) levels.push(to_json(level));
  for (const Decoder::Node& node : section.nodes) nodes.push(to_json(node));
  for (const Decoder::ProfiledNode& node : section.profiled) profiled.push(to_json(node));
  Json out = Json::object({{"summary", section.summary}, {"layout", section.layout}, {"levels", std::move(levels)}});
  if (section.limit) out.set("limit", to_json(*section.limit));
  if (!section.nodes.empty()) out.set("nodes", std::move(nodes));
  if (!section.profiled.empty()) out.set("profiled", std::move(profiled));
  return out;
}

}  // namespace aaco::report
