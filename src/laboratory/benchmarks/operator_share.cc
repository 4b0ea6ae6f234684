#include "laboratory/benchmarks/operator_share.h"

#include <map>

#include "core/json.h"

namespace aaco::laboratory::benchmarks {

std::optional<double> operator_share(std::string_view profile, const std::string& op_type, int skip) {
  const auto events = core::Json::parse(profile);
  if (!events) return std::nullopt;
  std::map<std::string_view, int> seen;
  double all = 0, own = 0;
  for (const core::Json& event : events->items()) {
    const auto duration = event["dur"].as_f64();
    const std::string_view name = event["name"].text();
    if (event["cat"].text() != "Node" || !name.ends_with("_kernel_time") || !duration || *duration < 0) continue;
    if (seen[name]++ < skip) continue;
    all += *duration;
    if (event["args"]["op_name"].text() == op_type) own += *duration;
  }
  if (!(all > 0) || !(own > 0)) return std::nullopt;
  return own / all;
}

}  // namespace aaco::laboratory::benchmarks
