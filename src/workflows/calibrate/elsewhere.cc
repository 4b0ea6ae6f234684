#include "workflows/calibrate/elsewhere.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "stats/summary.h"

namespace aaco::workflows {
namespace {

using estimation::Kernel;
using estimation::Measurement;

// The kernel in a type that the fit has; empty: it has none.
std::optional<Kernel> as_fitted(const estimation::DeviceCalibration& calibration, const estimation::DeviceFacts& device,
                                const Kernel& kernel) {
  const auto has = [&](const std::string& type) {
    return std::any_of(calibration.latency.begin(), calibration.latency.end(),
                       [&](const auto& model) { return model.kind == kind_of(kernel) && model.type == type; });
  };
  if (has(kernel.type)) return kernel;
  if (kernel.type != "fp16" && kernel.type != "bf16") return std::nullopt;
  Kernel other = kernel;
  other.type = kernel.type == "fp16" ? "bf16" : "fp16";
  const auto ours = device.flops_per_s.find(kernel.type), theirs = device.flops_per_s.find(other.type);
  const bool alike = ours != device.flops_per_s.end() && theirs != device.flops_per_s.end() && ours->second == theirs->second;
  return alike && has(other.type) ? std::optional(other) : std::nullopt;
}

// What would have to be added in quadrature for the row to be inside.
double missing(const estimation::LatencyEstimate& made, double measured) {
  const double off = std::log(measured / made.seconds);
  const double end = off > 0 ? std::log(made.upper / made.seconds) : std::log(made.seconds / made.lower);
  return std::sqrt(std::max(0.0, off * off - end * end));
}

struct Seen {
  std::vector<double> missing;
  std::set<std::string> sites;
};

double term_of(Seen seen) {
  constexpr double kLevel = 0.9, kRounded = 1000;
  std::sort(seen.missing.begin(), seen.missing.end());
  const double sites = static_cast<double>(seen.sites.size());
  const double level = std::min(1.0, kLevel + (1 - kLevel) / sites);
  return std::ceil(stats::quantile_of_sorted(seen.missing, level) * kRounded) / kRounded;
}

}  // namespace

core::Result<std::map<std::string, double>> elsewhere_terms(const estimation::DeviceCalibration& calibration,
                                                            const estimation::DeviceFacts& device,
                                                            const std::vector<Measurement>& rows) {
  estimation::CalibrationSet set;
  set.add(calibration, device);
  std::map<std::string, Seen> classes;
  for (const Measurement& row : rows) {
    if (row.seconds < least_possible_seconds(row.kernel, device)) continue;
    const auto kernel = as_fitted(calibration, device, row.kernel);
    if (!kernel) continue;
    AACO_ASSIGN(const auto made, estimate(*kernel, device, &set));
    if (made.level != estimation::Level::calibrated) continue;
    Seen& seen = classes[std::string(kind_of(*kernel)) + " " + kernel->type];
    seen.missing.push_back(missing(made, row.seconds));
    seen.sites.insert(site_of(row.kernel));
  }
  std::map<std::string, double> terms;
  for (auto& [name, seen] : classes) terms.emplace(name, term_of(std::move(seen)));
  return terms;
}

}  // namespace aaco::workflows
