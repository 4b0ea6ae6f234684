#include "analytics/llm_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "core/strings.h"
#include "stats/summary.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::array<std::string_view, 3> kTools = {"vllm", "guidellm", "aiperf"};

// A request with the times of its chunks.
struct Answer {
  const trace::LlmRequestRow* row = nullptr;
  std::vector<std::int64_t> content_ns;  // with output
  std::vector<std::int64_t> choices_ns;  // with choices: the role and the reason to finish too
};

double ns(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from); }

ToolFigure figure(std::string name, std::string definition, std::vector<double> values) {
  ToolFigure figure{std::move(name), std::move(definition), {}, {}, {}};
  if (values.empty()) return figure;
  figure.mean_ns = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  figure.p50_ns = stats::quantile_of_sorted(values, 0.5);
  figure.p99_ns = stats::quantile_of_sorted(values, 0.99);
  return figure;
}

void add_gaps(const std::vector<std::int64_t>& times, std::vector<double>& gaps) {
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(ns(times[i - 1], times[i]));
}

struct Values {
  std::vector<double> ttft, tpot, itl, e2el, gaps;
};

// vLLM, vllm/benchmarks: the first chunk with choices is the first token, and each later one ends an ITL.
std::vector<ToolFigure> as_vllm(const std::vector<Answer>& answers) {
  Values values;
  for (const Answer& answer : answers) {
    const auto& row = *answer.row;
    const auto& times = answer.choices_ns;
    const std::int64_t first = times.empty() ? *row.first_token_ns : times.front();
    const std::int64_t last = times.empty() ? *row.last_token_ns : times.back();
    values.ttft.push_back(ns(*row.sent_ns, first));
    values.e2el.push_back(ns(*row.sent_ns, last));
    add_gaps(times, values.itl);
    if (row.output_tokens && *row.output_tokens > 1)
      values.tpot.push_back(ns(first, last) / static_cast<double>(*row.output_tokens - 1));
  }
  return {figure("TTFT", "send to the first chunk with choices, the role included", std::move(values.ttft)),
          figure("TPOT", "(E2EL - TTFT) / (output tokens - 1)", std::move(values.tpot)),
          figure("ITL", "gaps between chunks", std::move(values.itl)),
          figure("E2EL", "send to the last chunk with choices", std::move(values.e2el))};
}

// GuideLLM, guidellm/schemas: the first token is part of TPOT, and ITL is a mean of each request.
std::vector<ToolFigure> as_guidellm(const std::vector<Answer>& answers) {
  Values values;
  for (const Answer& answer : answers) {
    const auto& row = *answer.row;
    values.ttft.push_back(ns(*row.sent_ns, *row.first_token_ns));
    values.e2el.push_back(ns(*row.sent_ns, row.end_ns));
    if (!row.output_tokens || *row.output_tokens < 1) continue;
    values.tpot.push_back(ns(*row.sent_ns, *row.last_token_ns) / static_cast<double>(*row.output_tokens));
    if (*row.output_tokens > 1)
      values.itl.push_back(ns(*row.first_token_ns, *row.last_token_ns) / static_cast<double>(*row.output_tokens - 1));
  }
  return {figure("TTFT", "send to the first content", std::move(values.ttft)),
          figure("TPOT", "send to the last token / output tokens", std::move(values.tpot)),
          figure("ITL", "first to last token / (output tokens - 1), per request", std::move(values.itl)),
          figure("E2EL", "send to the end of the stream", std::move(values.e2el))};
}

// AIPerf, aiperf/metrics: request latency ends with the last content; inter-chunk latency is a metric of its own.
std::vector<ToolFigure> as_aiperf(const std::vector<Answer>& answers) {
  Values values;
  for (const Answer& answer : answers) {
    const auto& row = *answer.row;
    const double ttft = ns(*row.sent_ns, *row.first_token_ns), latency = ns(*row.sent_ns, *row.last_token_ns);
    values.ttft.push_back(ttft);
    values.e2el.push_back(latency);
    add_gaps(answer.content_ns, values.gaps);
    if (row.output_tokens && *row.output_tokens > 1)
      values.itl.push_back((latency - ttft) / static_cast<double>(*row.output_tokens - 1));
  }
  return {figure("TTFT", "send to the first content", std::move(values.ttft)),
          figure("ITL", "(request latency - TTFT) / (output tokens - 1), per request", std::move(values.itl)),
          figure("inter-chunk", "gaps between chunks with content", std::move(values.gaps)),
          figure("E2EL", "request latency: send to the last content", std::move(values.e2el))};
}

}  // namespace

std::string_view to_string(Tool tool) { return kTools[static_cast<std::size_t>(tool)]; }

core::Result<std::vector<Tool>> parse_tools(std::string_view text) {
  std::vector<Tool> tools;
  for (const std::string_view word : core::split(text, ',')) {
    const auto found = std::find(kTools.begin(), kTools.end(), core::trim(word));
    if (found == kTools.end())
      return core::fail(core::ErrorCode::invalid_argument, fmt::format("unknown definitions '{}'", word),
                        "valid: vllm, guidellm, aiperf");
    tools.push_back(static_cast<Tool>(found - kTools.begin()));
  }
  return tools;
}

std::vector<ToolFigure> figures_as(Tool tool, std::span<const trace::LlmRequestRow> requests,
                                   std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                   std::string_view load) {
  std::vector<Answer> answers;
  std::unordered_map<std::int64_t, std::size_t> place;
  for (const auto& row : requests) {
    if (names.text(row.phase) != "measure" || names.text(row.load) != load || names.text(row.outcome) != "ok") continue;
    if (!row.sent_ns || !row.first_token_ns || !row.last_token_ns) continue;
    place.emplace(row.request, answers.size());
    answers.push_back({&row, {}, {}});
  }
  for (const auto& chunk : chunks) {
    const auto found = place.find(chunk.request);
    const std::string_view kind = names.text(chunk.kind);
    if (found == place.end() || kind == "usage" || kind == "done" || kind == "error") continue;
    answers[found->second].choices_ns.push_back(chunk.time_ns);
    if (kind == "content" || kind == "reasoning" || kind == "tool_call")
      answers[found->second].content_ns.push_back(chunk.time_ns);
  }
  switch (tool) {
    case Tool::vllm: return as_vllm(answers);
    case Tool::guidellm: return as_guidellm(answers);
    case Tool::aiperf: return as_aiperf(answers);
  }
  return {};
}

core::Json to_json(const std::vector<ToolFigure>& figures) {
  core::Json list = core::Json::array();
  for (const ToolFigure& one : figures) {
    core::Json json = core::Json::object({{"name", one.name}, {"definition", one.definition}});
    json.set_if("mean_ns", one.mean_ns).set_if("p50_ns", one.p50_ns).set_if("p99_ns", one.p99_ns);
    list.push(std::move(json));
  }
  return list;
}

}  // namespace aaco::analytics::llm
