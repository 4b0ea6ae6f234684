#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/yaml.h"

// What a language-model server says of itself at /metrics, in the Prometheus text format.
namespace aaco::serving {

enum class Combine : std::uint8_t { sum, max };

struct ServerMetric {
  std::string id;                  // server.waiting_requests
  std::vector<std::string> names;  // the first that the server has counts
  Combine combine = Combine::sum;  // of several label sets
};

struct Dialect {
  std::string id;  // vllm, sglang, tgi, llama.cpp
  std::vector<ServerMetric> metrics;
};

// data/serving/server_metrics.yaml. Fails with invalid_input, naming the line.
core::Result<std::vector<Dialect>> load_dialects(const std::string& path);
core::Result<std::vector<Dialect>> parse_dialects(const core::YamlNode& document);

struct ServerReading {
  std::string dialect;
  std::vector<std::pair<std::string, double>> values;  // by metric id, in the dialect's order
};
// The reading in the dialect of which the text has the most metrics; empty where it has none of any. Lines that are not of the
// format are passed over, as are values that are not finite.
std::optional<ServerReading> read_server_metrics(const std::vector<Dialect>& dialects, std::string_view text);

// One sample of the text format: "name{labels} value [time]". Empty on a comment and on what is not a sample.
struct PrometheusSample {
  std::string_view name;
  double value = 0;
};
std::optional<PrometheusSample> parse_prometheus_line(std::string_view line);

}  // namespace aaco::serving
