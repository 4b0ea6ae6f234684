#include "estimation/calibration/energy.h"

#include <cmath>

#include "estimation/calibration/ensemble.h"
#include "estimation/latency/features.h"
#include "stats/fits.h"

namespace aaco::estimation {

core::Result<EnergyModel> fit_energy(std::span<const Measurement> measurements, const std::vector<std::size_t>& rows,
                                     const DeviceFacts& device, const FitSettings& settings, std::vector<Residual>& residuals) {
  std::vector<Roofline> roofs;
  std::vector<double> joules;
  std::vector<std::string> sites;
  stats::Design design{{}, 3};
  for (const std::size_t row : rows) {
    const Measurement& measured = measurements[row];
    AACO_ASSIGN(const Roofline roof, roofline(measured.kernel, device));
    joules.push_back(*measured.power_watts * measured.seconds);
    // Each row divided by its energy, so that relative errors count.
    for (const double part : {measured.seconds, roof.flops, roof.bytes}) design.values.push_back(part / joules.back());
    roofs.push_back(roof);
    sites.push_back(site_of(measured.kernel));
  }
  const std::vector<double> ones(rows.size(), 1);
  EnergyModel model;
  AACO_ASSIGN(const stats::LinearFit fit, stats::non_negative_least_squares(design, ones));
  model.static_watts = fit.coefficients[0];
  model.joules_per_flop = fit.coefficients[1];
  model.joules_per_byte = fit.coefficients[2];
  TrainingTable table;
  std::vector<double> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& measured = measurements[rows[i]];
    parts.push_back(model.static_watts * measured.seconds + model.joules_per_flop * roofs[i].flops +
                    model.joules_per_byte * roofs[i].bytes);
    const auto features = energy_features_of(measured.kernel, roofs[i], measured.seconds);
    table.features.columns = features.size();
    table.features.values.insert(table.features.values.end(), features.begin(), features.end());
    table.targets.push_back(static_cast<float>(std::log(joules[i] / parts[i])));
  }
  table.groups = number(sites, table.group_count);
  AACO_ASSIGN(Ensemble ensemble, fit_ensemble(table, settings));
  std::vector<double> estimated;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    estimated.push_back(parts[i] * std::exp(ensemble.unseen[i]));
    residuals.push_back({rows[i], estimated.back()});
  }
  model.quality = quality_of(joules, estimated, table.group_count);
  model.trees = std::move(ensemble.members);
  model.bounds = std::move(ensemble.bounds);
  return model;
}

}  // namespace aaco::estimation
