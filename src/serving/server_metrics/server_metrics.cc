#include "serving/server_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::serving {
namespace {

using core::YamlNode;

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

// Past "{...}", in which quoted values may have braces; npos: it does not end.
std::size_t end_of_labels(std::string_view line, std::size_t at) {
  bool quoted = false;
  for (; at < line.size(); ++at) {
    if (quoted && line[at] == '\\')
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (line[at] == '}' && !quoted)
      return at + 1;
  }
  return std::string_view::npos;
}

core::Result<ServerMetric> parse_metric(const YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "names", "combine"}));
  ServerMetric metric;
  AACO_ASSIGN(metric.id, node.require_string("id"));
  if (!metric.id.starts_with("server.")) return node.error("the id must start with 'server.'");
  AACO_ASSIGN(const YamlNode* names, node.require("names"));
  AACO_ASSIGN(metric.names, names->as_strings());
  if (metric.names.empty()) return names->error("a metric needs at least one name");
  AACO_ASSIGN(const std::string combine, node.require_string("combine"));
  if (combine != "sum" && combine != "max") return node.error("'combine' must be sum or max");
  metric.combine = combine == "sum" ? Combine::sum : Combine::max;
  return metric;
}

struct Combined {
  double sum = 0, max = 0;
};

}  // namespace

core::Result<std::vector<Dialect>> parse_dialects(const YamlNode& document) {
  if (!document.is_mapping()) return document.error("expected a mapping");
  AACO_TRY(document.only_keys({"schema", "dialects"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != 1) return document.error("unsupported schema " + std::to_string(schema));
  AACO_ASSIGN(const YamlNode* list, document.require("dialects"));
  std::vector<Dialect> dialects;
  for (const YamlNode& node : list->items()) {
    AACO_TRY(node.only_keys({"id", "source", "metrics"}));
    Dialect dialect;
    AACO_ASSIGN(dialect.id, node.require_string("id"));
    AACO_TRY(node.require_string("source"));
    AACO_ASSIGN(const YamlNode* metrics, node.require("metrics"));
    for (const YamlNode& one : metrics->items()) {
      AACO_ASSIGN(auto metric, parse_metric(one));
      dialect.metrics.push_back(std::move(metric));
    }
    dialects.push_back(std::move(dialect));
  }
  return dialects;
}

core::Result<std::vector<Dialect>> load_dialects(const std::string& path) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  return parse_dialects(document);
}

std::optional<PrometheusSample> parse_prometheus_line(std::string_view line) {
  line = core::trim(line);
  std::size_t at = 0;
  while (at < line.size() && name_character(line[at])) ++at;
  if (at == 0) return std::nullopt;  // a comment, an empty line
  PrometheusSample sample{.name = line.substr(0, at), .value = 0};
  if (at < line.size() && line[at] == '{') at = end_of_labels(line, at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = core::split_words(line.substr(at));
  if (words.empty() || words.size() > 2) return std::nullopt;
  const auto value = core::parse_f64(words.front());
  if (!value || !std::isfinite(*value)) return std::nullopt;
  sample.value = *value;
  return sample;
}

std::optional<ServerReading> read_server_metrics(const std::vector<Dialect>& dialects, std::string_view text) {
  std::map<std::string_view, Combined> samples;
  for (const std::string_view line : core::split_lines(text)) {
    const auto sample = parse_prometheus_line(line);
    if (!sample) continue;
    const auto [place, added] = samples.try_emplace(sample->name, Combined{sample->value, sample->value});
    if (added) continue;
    place->second.sum += sample->value;
    place->second.max = std::max(place->second.max, sample->value);
  }
  std::optional<ServerReading> best;
  for (const Dialect& dialect : dialects) {
    ServerReading reading{.dialect = dialect.id, .values = {}};
    for (const ServerMetric& metric : dialect.metrics) {
      const auto name = std::find_if(metric.names.begin(), metric.names.end(),
                                     [&](const std::string& one) { return samples.contains(std::string_view(one)); });
      if (name == metric.names.end()) continue;
      const Combined& found = samples.at(*name);
      reading.values.emplace_back(metric.id, metric.combine == Combine::sum ? found.sum : found.max);
    }
    if (!reading.values.empty() && (!best || reading.values.size() > best->values.size())) best = std::move(reading);
  }
  return best;
}

}  // namespace aaco::serving
