#include "analytics/kernel_work.h"

namespace aaco::analytics::roofline {
namespace {

constexpr std::size_t kInstancesKept = 4096;  // operators whose kernels may still come

}  // namespace

void SiteTimes::add(const trace::KernelRow& row, const attribution::Launch& launch) {
  if (launch.operator_arguments.value == 0 || row.end_ns <= row.start_ns) return;
  const std::pair key{launch.shaped_operator.value, launch.operator_arguments.value};
  auto place = known_.find(key);
  if (place == known_.end()) {
    if (known_.size() >= kMaxSites) return;
    place = known_.emplace(key, std::nullopt).first;
    if (const auto arguments = core::Json::parse(names_.text(launch.operator_arguments)))
      place->second = operator_site(names_.text(launch.shaped_operator), *arguments);
  }
  if (!place->second) return;
  SiteGroup& group = groups_[{row.rank, row.device, launch.shaped_operator.value, launch.operator_arguments.value}];
  group.rank = row.rank;
  group.device = row.device;
  group.operator_name = launch.shaped_operator;
  if (group.kernels == 0) group.work = *place->second;
  const Instance instance{launch.rank, launch.thread_id, launch.shaped_start_ns};
  if (seen_.insert(instance).second) {
    ++group.count;
    order_.push_back(instance);
  }
  if (order_.size() > kInstancesKept) {
    seen_.erase(order_.front());
    order_.pop_front();
  }
  ++group.kernels;
  group.time_ns += static_cast<double>(row.end_ns - row.start_ns);
}

std::vector<SiteGroup> SiteTimes::finish() const {
  std::vector<SiteGroup> list;
  for (const auto& [key, group] : groups_) list.push_back(group);
  return list;
}

}  // namespace aaco::analytics::roofline
