#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "trace/metric.h"

namespace aaco::report {

class MarkdownPage;
class TextPage;
struct ReportModel;

// Prefill and decode of a language model that ran in process.
struct Decoder {
  struct Value {
    double value = 0;
    std::optional<trace::Interval> ci95;
  };
  struct Predicted {
    double value = 0, lower = 0, upper = 0;
    std::string level;
  };
  struct Level {
    std::string load;  // "prompt 512, batch 1"
    std::int64_t batch = 0, prompt_tokens = 0, output_tokens = 0, complete = 0;
    std::optional<Value> prefill_ns, token_ns, prefill_tokens_per_second, decode_tokens_per_second;
    std::optional<Predicted> predicted_prefill_ns, predicted_token_ns;
    std::optional<double> cache_bytes, predicted_cache_bytes, rss_bytes;
  };
  // How far decode is from what memory bandwidth allows.
  struct Limit {
    std::string limit, text;  // bandwidth, partly_bandwidth, other, unknown
    double weight_bytes = 0, cache_bytes = 0;
    std::optional<double> bytes_per_second;
    std::string source;
    std::optional<double> weight_floor_ns, floor_ns, weight_floor_ratio, floor_ratio, batch_growth_ratio;
    std::vector<std::string> evidence;
  };
  struct Node {
    std::string phase, name, op_type, limit;
    double predicted_ns = 0, share_ratio = 0;  // of the phase
  };
  // A node of the profiled pass; times of all its executions in one call of the phase, medians over the calls.
  struct ProfiledNode {
    std::string phase, name, op_type;
    std::int64_t count = 0;          // executions per call
    double ns = 0, share_ratio = 0;  // of the nodes of the phase
    std::optional<double> predicted_ns;
  };
  std::string summary, layout;
  std::vector<Level> levels;  // the main one first
  std::optional<Limit> limit;
  std::vector<Node> nodes;             // the longest of each phase
  std::vector<ProfiledNode> profiled;  // the same, measured; empty without --profile
};

core::Json to_json(const Decoder& section);
void write_text(TextPage& page, const Decoder& section, const ReportModel& model);
void write_markdown(MarkdownPage& page, const Decoder& section);

}  // namespace aaco::report
