#include "analytics/work_rates.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace aaco::analytics::roofline {
namespace {

using RateKey = std::tuple<std::uint32_t, std::string, std::string>;  // name, data type, source
using RateMap = std::map<RateKey, WorkRate>;

constexpr std::string_view kSingle = "float32", kTensorSingle = "tf32";
constexpr double kAboveAnyClock = 1.05;  // no clock is this much above the stated one

struct Amount {
  double flops = 0, bytes = 0, time_ns = 0;
  std::int64_t count = 0;
};

void add_amount(WorkRate& rate, const Amount& amount) {
  rate.count += amount.count;
  rate.time_ns += amount.time_ns;
  if (amount.flops > 0) rate.flops = rate.flops.value_or(0) + amount.flops;
  if (amount.bytes > 0) rate.bytes = rate.bytes.value_or(0) + amount.bytes;
}

// Names of products in TF32: "s1688gemm" is CUTLASS's and cuBLAS's 16x8x8 tensor instruction on float32 operands.
std::string type_of_kernel(const std::string& dtype, std::string_view name) {
  if (dtype != kSingle) return dtype;
  for (const std::string_view word : {"s1688gemm", "tf32", "xf32"})
    if (name.find(word) != std::string_view::npos) return std::string(kTensorSingle);
  return dtype;
}

// Faster than float32 can be, on a device that has TF32.
bool is_beyond_single(double flops_per_s, const hardware::Device& device) {
  const auto single = device.peak_ops_per_s(kSingle), tensor = device.peak_ops_per_s(kTensorSingle);
  return single && tensor && *tensor > *single && *single > 0 && flops_per_s > kAboveAnyClock * *single;
}

void divide_rate(WorkRate& rate, const hardware::Device* device) {
  const double seconds = rate.time_ns * 1e-9;
  if (rate.flops) rate.flops_per_s = *rate.flops / seconds;
  if (rate.bytes) rate.bytes_per_s = *rate.bytes / seconds;
  if (device == nullptr) return;
  if (rate.flops && !rate.dtype.empty())
    if (const auto peak = device->peak_ops_per_s(rate.dtype); peak && *peak > 0) rate.peak_flops_per_s = *peak;
  if (rate.bytes && device->memory.bytes_per_s && device->memory.bytes_per_s->value > 0)
    rate.peak_bytes_per_s = device->memory.bytes_per_s->value;
  if (rate.peak_flops_per_s && rate.dtype == kSingle && is_beyond_single(*rate.flops_per_s, *device)) {
    rate.dtype = kTensorSingle;
    rate.peak_flops_per_s = device->peak_ops_per_s(kTensorSingle);
  }
  if (rate.peak_flops_per_s) rate.flops_ratio = *rate.flops_per_s / *rate.peak_flops_per_s;
  if (rate.peak_bytes_per_s) rate.bytes_ratio = *rate.bytes_per_s / *rate.peak_bytes_per_s;
}

std::vector<WorkRate> finished_rates(RateMap rates, const hardware::Device* device) {
  std::vector<WorkRate> list;
  for (auto& [key, rate] : rates) {
    if (!(rate.time_ns > 0) || (!rate.flops && !rate.bytes)) continue;
    divide_rate(rate, device);
    list.push_back(std::move(rate));
  }
  std::stable_sort(list.begin(), list.end(), [](const WorkRate& a, const WorkRate& b) { return a.time_ns > b.time_ns; });
  return list;
}

WorkRate& rate_of(RateMap& rates, RateSubject subject, trace::NameId name, const std::string& dtype, const std::string& source) {
  WorkRate& rate = rates[{name.value, dtype, source}];
  rate.subject = subject;
  rate.name = name;
  rate.dtype = dtype;
  rate.source = source;
  return rate;
}

}  // namespace

std::string computed_in(const GroupWork& work, std::string_view kernel, const hardware::Device* device) {
  const std::string type = type_of_kernel(work.dtype, kernel);
  const bool fast = type == kSingle && device != nullptr && work.time_ns > 0 &&
                    work.family != fingerprint::Family::convolution &&  // some do fewer operations than are counted
                    is_beyond_single(work.flops / work.time_ns * 1e9, *device);
  return fast ? std::string(kTensorSingle) : type;
}

std::string_view to_string(RateSubject subject) { return subject == RateSubject::kernel ? "kernel" : "operator"; }

std::vector<WorkRate> kernel_rates(std::span<const GroupWork> works, const trace::NameTable& names,
                                   const hardware::Device* device) {
  RateMap rates;
  for (const GroupWork& work : works) {
    const std::string source = work.source == WorkSource::shapes ? std::string(to_string(work.source)) : work.counters;
    WorkRate& rate =
        rate_of(rates, RateSubject::kernel, work.kernel, type_of_kernel(work.dtype, names.text(work.kernel)), source);
    rate.rank = work.rank;
    rate.device = work.device;
    rate.family = work.family;
    add_amount(rate, {work.flops, work.bytes, work.time_ns, work.count});
  }
  return finished_rates(std::move(rates), device);
}

std::vector<WorkRate> operator_rates(std::span<const SiteGroup> sites, const hardware::Device* device) {
  RateMap rates;
  for (const SiteGroup& site : sites) {
    WorkRate& rate =
        rate_of(rates, RateSubject::operation, site.operator_name, site.work.dtype, std::string(to_string(WorkSource::shapes)));
    rate.rank = site.rank;
    rate.device = site.device;
    rate.family = site.work.family;
    const double times = static_cast<double>(site.count) * site.work.kernels;  // a convolution's two gradients are as much each
    add_amount(rate, {site.work.flops * times, site.work.bytes * times, site.time_ns, site.count});
  }
  return finished_rates(std::move(rates), device);
}

}  // namespace aaco::analytics::roofline
