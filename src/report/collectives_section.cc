#include "report/collectives_section.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const Collectives::Kind& kind) {
  Json out = Json::object({{"operation", kind.operation}});
  out.set_if("group_size", kind.group_size).set("count", kind.count).set("time_ns", kind.time_ns);
  out.set_if("wait_ns", kind.wait_ns).set_if("data_bytes", kind.data_bytes).set_if("bus_factor", kind.bus_factor);
  out.set_if("algorithm_bytes_per_s", kind.algorithm_bytes_per_s).set_if("bus_bytes_per_s", kind.bus_bytes_per_s);
  if (!kind.time_method.empty()) out.set("time_method", kind.time_method);
  return out;
}

Json to_json(const Collectives::Rank& rank) {
  return Json::object({{"rank", rank.rank},
                       {"operation", rank.operation},
                       {"count", rank.count},
                       {"time_ns", rank.time_ns},
                       {"wait_ns", rank.wait_ns},
                       {"last_count", rank.last_count}});
}

Json to_json(const Collectives::Call& call) {
  Json out = Json::object({{"instance", call.instance},
                           {"operation", call.operation},
                           {"group", call.group},
                           {"start_ns", call.start_ns},
                           {"rank_count", call.rank_count}});
  out.set_if("group_size", call.group_size).set_if("data_bytes", call.data_bytes);
  return out.set("longest_wait_ns", call.longest_wait_ns)
      .set("wait_sum_ns", call.wait_sum_ns)
      .set("last_rank", call.last_rank)
      .set("wait_method", call.wait_method);
}

template <class T>
Json calls_json(const std::vector<T>& list) {
  Json out = Json::array();
  for (const T& one : list) out.push(to_json(one));
  return out;
}

}  // namespace

Json to_json(const Collectives& section) {
  Json out = Json::object(
      {{"call_count", section.call_count}, {"matched_count", section.matched_count}, {"kinds", calls_json(section.kinds)}});
  if (!section.ranks.empty()) out.set("ranks", calls_json(section.ranks));
  if (!section.worst.empty()) out.set("worst", calls_json(section.worst));
  return out;
}

}  // namespace aaco::report
