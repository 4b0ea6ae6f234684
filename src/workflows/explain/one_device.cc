#include "workflows/explain/one_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kSameTime = 0.5;   // of the span of one of both: our own judgement
constexpr double kMuchWork = 0.05;  // of the judged span, by which the others would change its busy time: the same

// Ranks of a job have devices of their own; processes of one file that name no job need not.
bool states_ranks(const Json& files) {
  const auto& list = files.items();
  return std::any_of(list.begin(), list.end(), [](const Json& file) {
    const auto& ranks = file["facts"]["ranks"].items();
    return file["facts"]["distributed"].is_object() ||
           std::any_of(ranks.begin(), ranks.end(), [](const Json& rank) { return rank["job"]["rank"].as_i64().has_value(); });
  });
}

double busy_of(const Json& gpu, const trace::Metrics& metrics) {
  const auto* busy = find_metric(metrics, "gpu.busy_ns", gpu["metric_device"].as_i64());
  return busy == nullptr ? 0 : busy->value;
}

bool works_alone(const Json& gpu) {
  return gpu["shared_by_ranks"].items().empty() && gpu["collective_count"].as_i64().value_or(0) == 0;
}

// Time between the first and the last work of both.
double together_ns(const Json& a, const Json& b) {
  const auto at = [](const Json& gpu, std::string_view key) { return gpu[key].as_i64().value_or(0); };
  return static_cast<double>(std::min(at(a, "last_ns"), at(b, "last_ns")) - std::max(at(a, "first_ns"), at(b, "first_ns")));
}

double span_of(const Json& gpu) { return together_ns(gpu, gpu); }

}  // namespace

std::optional<std::string> may_be_one_device(const Json& gpus, const Json& judged, const Json& files,
                                             const trace::Metrics& metrics) {
  const double span_ns = span_of(judged);
  if (span_ns <= 0 || !works_alone(judged) || states_ranks(files)) return std::nullopt;
  std::size_t processes = 1;
  double others_ns = 0;
  for (const Json& other : gpus.items()) {
    if (other["rank"].as_i64() == judged["rank"].as_i64() || other["device"].as_i64() != judged["device"].as_i64()) continue;
    if (!works_alone(other)) return std::nullopt;
    const double together = together_ns(judged, other);
    if (together < kSameTime * span_of(other) && together < kSameTime * span_of(judged)) continue;
    ++processes;
    others_ns += std::min(busy_of(other, metrics), together);
  }
  if (others_ns < kMuchWork * span_ns) return std::nullopt;
  return fmt::format(
      "{} processes ran at the same time on a device that each calls GPU {}, and the traces do not say whether it is one GPU: "
      "process {} alone keeps it busy for {} of its {}, and the others have work for {} of them",
      processes, judged["device"].as_i64().value_or(0), judged["rank"].as_i64().value_or(0),
      core::format_duration(busy_of(judged, metrics)), core::format_duration(span_ns), core::format_duration(others_ns));
}

}  // namespace aaco::workflows
