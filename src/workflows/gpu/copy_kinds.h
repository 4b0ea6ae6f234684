#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// Copies and fills of one device by their kind.
class CopyKinds {
 public:
  void add(const trace::CopyRow& row) {
    Sum& sum = sums_[row.kind.value];
    ++sum.count;
    sum.time_ns += std::max<std::int64_t>(0, row.end_ns - row.start_ns);
  }
  [[nodiscard]] core::Json to_json(const trace::NameTable& names) const {
    core::Json kinds = core::Json::array();
    for (const auto& [kind, sum] : sums_)
      kinds.push(core::Json::object({{"kind", names.text({kind})}, {"count", sum.count}, {"sum_ns", sum.time_ns}}));
    return kinds;
  }

 private:
  struct Sum {
    std::int64_t count = 0, time_ns = 0;
  };
  std::map<std::uint32_t, Sum> sums_;  // by the name's id
};

}  // namespace aaco::workflows
