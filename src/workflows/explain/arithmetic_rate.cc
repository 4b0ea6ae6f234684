#include "workflows/explain/arithmetic_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::workflows {
namespace {

using analytics::signals::Signals;

constexpr std::string_view kClass = "compute_bound";
// Per CPU in use: what scalar code does at 2 GHz with two operations per cycle. Vector units do 8 to 64 operations per cycle.
constexpr double kScalarFlopsPerSecond = 4e9;
constexpr double kMinCpus = 0.1;  // in use: below it their rate says nothing

constexpr const char* kFindFunctions = "find the functions that take the time ('aaco record -- COMMAND', perf record)";

std::optional<double> rate_per_cpu(const Signals& signals) {
  const auto flops = signals.get("work.flops_per_second"), cpus = signals.get("process.cpu_use_cores");
  if (!flops || !cpus || *cpus < kMinCpus) return std::nullopt;
  return *flops / *cpus;
}

}  // namespace

ArithmeticLimit arithmetic_limit(const Signals& signals) {
  const auto rate = rate_per_cpu(signals);
  if (!rate) return ArithmeticLimit::unknown;
  return *rate < kScalarFlopsPerSecond ? ArithmeticLimit::excluded : ArithmeticLimit::likely;
}

core::Json with_arithmetic_rate(core::Json document, const Signals& signals) {
  if (document["bottleneck_class"].text() != kClass) return document;
  std::string text(document["meaning"].text());
  const double rate = rate_per_cpu(signals).value_or(0) / 1e9;
  switch (arithmetic_limit(signals)) {
    case ArithmeticLimit::unknown:
      text += " Whether arithmetic throughput is the limit is not known: the model's operations are not counted.";
      break;
    case ArithmeticLimit::likely:
      text += fmt::format(" At {:.3g} GFLOP/s per CPU in use, arithmetic throughput is the likely limit.", rate);
      break;
    case ArithmeticLimit::excluded:
      text += fmt::format(
          " At {:.2g} GFLOP/s per CPU in use, less than scalar code reaches ({:.0f} GFLOP/s), arithmetic throughput is not the "
          "limit; what slows the computation is not known.",
          rate, kScalarFlopsPerSecond / 1e9);
      document.set("title", "computation, not by arithmetic throughput");
      document.set("optimization_priority", core::Json::texts(std::vector<std::string>{kFindFunctions}));
      break;
  }
  return document.set("meaning", text);
}

void follow_arithmetic_rate(const Signals& signals, std::vector<analytics::advice::Recommendation>& list) {
  if (arithmetic_limit(signals) != ArithmeticLimit::excluded) return;
  for (auto& one : list) {
    if (one.id != kClass) continue;
    one.title = kFindFunctions;
    one.text = "The CPU computes almost all the time, but at a rate that its arithmetic units do not limit.";
    one.command = "aaco record -- COMMAND";
    // Fewer bits save arithmetic only.
    one.basis = "what slows the computation is not known, and so is the gain";
    one.cost_ratio = std::max(one.cost_ratio, one.gain_ratio);
    one.gain_ratio = one.least_gain_ratio = 0;
  }
}

}  // namespace aaco::workflows
