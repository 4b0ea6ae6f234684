#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "analytics/kernel_work.h"
#include "analytics/work_rates.h"
#include "workflows/gpu/gpu_rates.h"
#include "workflows/gpu/kernel_limits.h"
#include "workflows/gpu_roofline.h"
#include "workflows/gpu_sites.h"

namespace aaco::workflows {

// What the kernels of a trace had to do, added up while they stream past: by kernel, by operator with its shapes, by counters.
class GpuWork {
 public:
  explicit GpuWork(const trace::NameTable& names)
      : names_(names),
        by_kernel_(names),
        by_rows_(names, analytics::roofline::ShapedOperators::rows),
        by_operator_(names),
        by_counter_(names) {}

  // Kernels in order of start; `launch`: that they are joined to, null: none.
  void add(const trace::KernelRow& row, analytics::fingerprint::Family family, const analytics::attribution::Launch* launch) {
    if (launch == nullptr) return;
    by_kernel_.add(row, family, *launch);
    by_rows_.add(row, family, *launch);
    by_operator_.add(row, *launch);
  }
  void add(const trace::KernelCounterRow& row) { by_counter_.add(row); }

  void finish(const std::vector<trace::KernelGroupRow>& groups) {
    shapes_ = by_kernel_.finish();
    rows_ = by_rows_.finish();
    counters_ = by_counter_.finish(groups);
    counted_ = by_counter_.counted(groups);
    groups_ = groups;
    sites_ = by_operator_.finish();
  }
  // Of one device and the ranks that use it, after finish(). Shapes tell of every launch, counters of some: these count where
  // there are no shapes.
  void place(const std::set<std::int32_t>& ranks, std::int64_t number, const hardware::DeviceRegistry::Seen* seen,
             const Services& services, GpuRoofline& roofline, GpuSites& sites, core::Json& limits, GpuRates& rates) const {
    const Place device{ranks, number};
    auto own = of_device(shapes_, device);
    if (own.empty()) own = of_device(counters_, device);
    const auto matched = match_device(seen, services);
    roofline = make_roofline(own, names_, matched);
    analytics::roofline::KnownWork known{of_device(shapes_, device), of_device(counted_, device)};
    for (auto& row : of_device(rows_, device)) known.shapes.push_back(std::move(row));
    limits = to_json(analytics::roofline::kernel_limits(of_device(groups_, device), known, names_, matched ? &*matched : nullptr),
                     names_, services.paths);
    sites = estimate_sites(of_device(sites_, device), names_, matched, services);
    rates = make_rates(known, of_device(sites_, device), names_, matched);
  }

 private:
  struct Place {
    const std::set<std::int32_t>& ranks;
    std::int64_t number = 0;
  };
  template <class Row>
  static std::vector<Row> of_device(const std::vector<Row>& all, const Place& device) {
    std::vector<Row> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const Row& row) { return device.ranks.contains(row.rank) && row.device == device.number; });
    return own;
  }

  const trace::NameTable& names_;
  analytics::roofline::ShapeWork by_kernel_, by_rows_;
  analytics::roofline::SiteTimes by_operator_;
  analytics::roofline::CounterWork by_counter_;
  std::vector<analytics::roofline::GroupWork> shapes_, rows_, counters_, counted_;
  std::vector<trace::KernelGroupRow> groups_;
  std::vector<analytics::roofline::SiteGroup> sites_;
};

}  // namespace aaco::workflows
