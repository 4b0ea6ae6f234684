#include "governance/baseline.h"

#include <algorithm>
#include <cctype>

#include "core/hash.h"

namespace aaco::governance {

core::Status check_baseline_name(std::string_view name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= 100 && name.front() != '.' && std::all_of(name.begin(), name.end(), allowed)) return {};
  return core::fail(core::ErrorCode::invalid_argument, "'" + std::string(name) + "' is not a valid baseline name",
                    "use letters, digits, '.', '_' and '-'");
}

std::string content_hash(const Baseline& baseline) {
  Baseline content = baseline;
  content.approval.reset();
  return core::sha256_hex(to_yaml(content));
}

Approved approval_state(const Baseline& baseline) {
  if (!baseline.approval) return Approved::no;
  return baseline.approval->content == content_hash(baseline) ? Approved::yes : Approved::changed_since;
}

bool expired(const Baseline& baseline, std::int64_t now_realtime_ns) {
  return baseline.expires_realtime_ns && now_realtime_ns >= *baseline.expires_realtime_ns;
}

std::vector<double> thin_series(const std::vector<double>& series, std::size_t most) {
  if (series.size() <= most) return series;
  std::vector<double> kept;
  kept.reserve(most);
  for (std::size_t i = 0; i < most; ++i) kept.push_back(series[i * series.size() / most]);
  return kept;
}

}  // namespace aaco::governance
