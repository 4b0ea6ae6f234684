#include "workflows/compare/llm_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using analytics::regression::MetricResult;
using stats::Verdict;

const MetricResult* find(std::span<const MetricResult> metrics, std::string_view id) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const MetricResult& one) { return one.id == id; });
  return found == metrics.end() ? nullptr : &*found;
}

bool changed(const MetricResult* metric) {
  return metric != nullptr && metric->delta_ratio &&
         (metric->verdict == Verdict::regression || metric->verdict == Verdict::improvement);
}

bool equal(const MetricResult* metric) { return metric != nullptr && metric->verdict == Verdict::equivalent; }

std::string moved(std::string_view name, const MetricResult& metric) {
  return fmt::format("{} {} -> {} ({})", name, core::format_duration(metric.baseline.value_or(0)),
                     core::format_duration(metric.candidate.value_or(0)), core::format_signed_percent(*metric.delta_ratio));
}

}  // namespace

std::optional<SuspectedCause> llm_cause(std::span<const MetricResult> metrics) {
  if (metrics.empty() || !metrics.front().id.starts_with("llm.") || !changed(&metrics.front())) return std::nullopt;
  const bool slower = metrics.front().verdict == Verdict::regression;
  const auto *first = find(metrics, "llm.ttft_p50_ns"), *token = find(metrics, "llm.tpot_p50_ns");
  const auto advice = [slower](std::string text) {
    return slower ? std::move(text) : std::string("no action needed: B is faster; approve it as the new baseline");
  };
  const std::string_view more = slower ? "longer" : "shorter";
  if (changed(first) && equal(token))
    return SuspectedCause{
        fmt::format("the time before the first token changed and the time per token did not: {}; requests wait {} in a queue, or "
                    "their prompts take {}",
                    moved("TTFT", *first), more, more),
        advice("compare the slots or batch limits of both servers, and how they compute prompts (prefix cache, chunked prefill)"),
        {}};
  if (equal(first) && changed(token))
    return SuspectedCause{
        fmt::format("the steps after the first token changed and the time before it did not: {}; each step takes {}",
                    moved("TPOT", *token), more),
        advice("compare the decode steps of both servers: weights and their precision, kernels, clocks, size of the "
               "batch"),
        {}};
  if (changed(first) && changed(token) && first->verdict == token->verdict)
    return SuspectedCause{
        fmt::format("the time before the first token and the steps after it changed together: {}, {}", moved("TTFT", *first),
                    moved("TPOT", *token)),
        advice(
            "compare what slows the whole server down: CPU or GPU share, clocks, other work on the machine, size of the batch"),
        {}};
  return std::nullopt;
}

}  // namespace aaco::workflows
