#include "workflows/gpu/gpu_rates.h"

#include <cmath>
#include <iterator>

namespace aaco::workflows {

using analytics::roofline::WorkRate;

GpuRates make_rates(const analytics::roofline::KnownWork& known, const std::vector<analytics::roofline::SiteGroup>& sites,
                    const trace::NameTable& names, const core::Result<hardware::Device>& device) {
  GpuRates out;
  const hardware::Device* matched = device ? &*device : nullptr;
  if (matched != nullptr) out.device_id = matched->id_with_state();
  const auto add = [&](std::vector<WorkRate> rates) {
    out.rates.insert(out.rates.end(), std::make_move_iterator(rates.begin()), std::make_move_iterator(rates.end()));
  };
  add(analytics::roofline::kernel_rates(known.shapes, names, matched));
  add(analytics::roofline::kernel_rates(known.counters, names, matched));
  add(analytics::roofline::operator_rates(sites, matched));
  return out;
}

void store_rates(const GpuRates& rates, const trace::NameTable& names, trace::Sink& sink) {
  for (const WorkRate& rate : rates.rates) {
    trace::WorkRateRow row;
    row.rank = rate.rank;
    row.device = rate.device;
    row.subject = sink.name(to_string(rate.subject));
    row.name = sink.name(names.text(rate.name));
    row.family = sink.name(to_string(rate.family));
    row.data_type = sink.name(rate.dtype);
    row.source = sink.name(rate.source);
    row.count = rate.count;
    row.time_ns = std::llround(rate.time_ns);
    row.flops = rate.flops;
    if (rate.bytes) row.bytes = std::llround(*rate.bytes);
    row.flops_per_s = rate.flops_per_s;
    row.bytes_per_s = rate.bytes_per_s;
    row.hardware = sink.name(rates.device_id);
    row.peak_flops_per_s = rate.peak_flops_per_s;
    row.peak_bytes_per_s = rate.peak_bytes_per_s;
    row.flops_ratio = rate.flops_ratio;
    row.bytes_ratio = rate.bytes_ratio;
    sink.add(row);
  }
}

}  // namespace aaco::workflows
