#include <algorithm>
#include <array>
#include <variant>

#include "analytics/kernel_work.h"

namespace aaco::analytics::roofline {
namespace {

using fingerprint::Family;

constexpr std::size_t kCallsKept = 4096;

// The families that an operator's main kernel may have: a convolution may run as a matrix product, so may attention.
bool fits(Family kernel, Family work) {
  return kernel == work || (kernel == Family::gemm && (work == Family::convolution || work == Family::attention));
}

// Row-wise operators run as any kernel that is neither one of these nor a collective.
bool goes_over_rows(Family kernel) {
  constexpr std::array kOthers = {Family::gemm, Family::convolution, Family::attention, Family::collective};
  return std::find(kOthers.begin(), kOthers.end(), kernel) == kOthers.end();
}

}  // namespace

std::optional<OperatorWork> ShapeWork::work_of(const attribution::Launch& launch) const {
  const auto arguments = core::Json::parse(names_.text(launch.operator_arguments));
  if (!arguments) return std::nullopt;
  const std::string_view name = names_.text(launch.shaped_operator);
  if (operators_ == ShapedOperators::products) return operator_work(name, *arguments);
  auto work = operator_site(name, *arguments);
  return work && std::holds_alternative<RowSite>(work->site) ? work : std::nullopt;
}

void ShapeWork::add(const trace::KernelRow& row, Family family, const attribution::Launch& launch) {
  if (launch.operator_arguments.value == 0 || row.end_ns <= row.start_ns) return;
  const auto [place, fresh] = known_.try_emplace({launch.shaped_operator.value, launch.operator_arguments.value});
  if (fresh) place->second = work_of(launch);
  const auto& work = place->second;
  if (!work) return;
  if (operators_ == ShapedOperators::products ? !fits(family, work->family) : !goes_over_rows(family)) return;
  const Instance instance{launch.rank, launch.thread_id, launch.shaped_start_ns};
  const auto [found, first] = calls_.try_emplace(instance);
  Call& call = found->second;
  if (first) {
    call.work = &*work;
    order_.push_back(instance);
  }
  const Kernel kernel{row.name, family, row.rank, row.device, static_cast<double>(row.end_ns - row.start_ns)};
  const auto shorter = [&](const Kernel& other) { return other.time_ns < kernel.time_ns; };
  call.main.insert(std::find_if(call.main.begin(), call.main.end(), shorter), kernel);
  if (call.main.size() > static_cast<std::size_t>(std::max(call.work->kernels, 1))) {
    call.helpers_ns += call.main.back().time_ns;
    call.main.pop_back();
  }
  if (order_.size() <= kCallsKept) return;
  const auto oldest = calls_.find(order_.front());
  count(oldest->second, groups_);
  calls_.erase(oldest);
  order_.pop_front();
}

void ShapeWork::count(const Call& call, Groups& groups) {
  double own_ns = 0;
  for (const Kernel& kernel : call.main) own_ns += kernel.time_ns;
  for (const Kernel& kernel : call.main) {
    GroupWork& group = groups[{kernel.rank, kernel.device, kernel.name.value, call.work->dtype}];
    group.rank = kernel.rank;
    group.device = kernel.device;
    group.kernel = kernel.name;
    group.family = kernel.family;
    group.dtype = call.work->dtype;
    ++group.count;
    group.time_ns += kernel.time_ns * (1 + call.helpers_ns / own_ns);
    group.flops += call.work->flops;
    group.bytes += call.work->bytes;
  }
}

std::vector<GroupWork> ShapeWork::finish() const {
  Groups groups = groups_;
  for (const auto& [instance, call] : calls_) count(call, groups);
  std::vector<GroupWork> list;
  for (const auto& [key, group] : groups) list.push_back(group);
  return list;
}

}  // namespace aaco::analytics::roofline
