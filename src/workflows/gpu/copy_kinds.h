#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analytics/attribution.h"
#include "analytics/exposed_copies.h"
#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// Copies and fills of one device by their kind, and which of them were exposed by what launched them.
class CopyKinds {
 public:
  explicit CopyKinds(analytics::trace_time::Convention convention = {}) : exposed_(convention) {}
  void add(const trace::CopyRow& row) {
    Sum& sum = sums_[row.kind.value];
    ++sum.count;
    sum.time_ns += std::max<std::int64_t>(0, row.end_ns - row.start_ns);
    if (row.bytes.value_or(-1) >= 0) sum.bytes += static_cast<double>(*row.bytes), ++sum.sized_count;
  }
  // All work of the device, in order of start; `kind`: of copies and fills.
  void add(const analytics::trace_time::Work& work, trace::NameId kind, const analytics::attribution::Launch* launch) {
    if (launch == nullptr) return exposed_.add(work, {kind, {}});
    const trace::NameId by = launch->operator_name.value != 0 ? launch->operator_name : launch->marker;
    exposed_.add(work, {kind, by.value != 0 ? by : launch->api});
  }
  // By kind: kind, count, sum_ns, exposed_ns, mean_bytes (where all sizes are known), and `launched_by`: name (empty: not in the
  // trace) and exposed_ns of those that launched most of the exposed time.
  [[nodiscard]] core::Json to_json(const trace::NameTable& names) {
    using core::Json;
    std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::uint32_t>>> origins;  // by kind: time and name
    for (const auto& [origin, time_ns] : exposed_.finish())
      if (time_ns > 0) origins[origin.kind.value].emplace_back(time_ns, origin.launched_by.value);
    Json kinds = Json::array();
    for (const auto& [kind, sum] : sums_) {
      auto& list = origins[kind];
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      std::int64_t exposed_ns = 0;
      Json launched_by = Json::array();
      for (const auto& [time_ns, name] : list) {
        exposed_ns += time_ns;
        if (launched_by.items().size() < kNamed)
          launched_by.push(Json::object({{"name", names.text({name})}, {"exposed_ns", time_ns}}));
      }
      Json one =
          Json::object({{"kind", names.text({kind})}, {"count", sum.count}, {"sum_ns", sum.time_ns}, {"exposed_ns", exposed_ns}});
      if (sum.sized_count == sum.count) one.set("mean_bytes", sum.bytes / static_cast<double>(sum.count));
      if (exposed_ns > 0) one.set("launched_by", std::move(launched_by));
      kinds.push(std::move(one));
    }
    return kinds;
  }

 private:
  static constexpr std::size_t kNamed = 10;
  struct Sum {
    std::int64_t count = 0, time_ns = 0, sized_count = 0;
    double bytes = 0;  // of those with a size
  };
  std::map<std::uint32_t, Sum> sums_;  // by the name's id
  analytics::trace_time::ExposedCopies exposed_;
};

}  // namespace aaco::workflows
