#include <algorithm>
#include <cmath>
#include <map>

#include "estimation/calibration.h"
#include "estimation/calibration/ceilings.h"
#include "estimation/calibration/energy.h"
#include "estimation/calibration/ensemble.h"
#include "estimation/calibration/full_attention.h"
#include "estimation/calibration/program_costs.h"
#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using Rows = std::vector<std::size_t>;

std::vector<std::string> operators_of(std::span<const Measurement> measurements, const Rows& rows) {
  std::vector<std::string> names;
  for (const std::size_t row : rows)
    if (const auto* vector = std::get_if<VectorShape>(&measurements[row].kernel.shape))
      names.push_back(vector->op);
    else if (!measurements[row].kernel.program.empty())
      names.push_back(measurements[row].kernel.program);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

struct Prepared {
  TrainingTable table;
  std::vector<TimedRoofline> timed;
  Rows rows;  // of the measurements, the possible ones
};

core::Result<std::vector<TimedRoofline>> timed_rooflines(std::span<const Measurement> measurements, const Rows& rows,
                                                         const DeviceFacts& device) {
  std::vector<TimedRoofline> timed;
  timed.reserve(rows.size());
  for (const std::size_t row : rows) {
    auto roof = roofline(measurements[row].kernel, device);
    if (!roof) return tl::unexpected<core::Error>(std::move(roof).error().with(measurements[row].where));
    timed.push_back({*roof, measurements[row].seconds});
  }
  return timed;
}

// Few layers were measured, with many loads each: deep trees tell the layers apart (25 % off on unseen ones, 24 % with these).
constexpr int kExpertsDepth = 4;

core::Result<std::vector<ProgramCost>> costs_of(std::span<const Measurement> measurements, const Rows& rows,
                                                const std::vector<bool>& impossible, const DeviceFacts& device,
                                                const std::vector<std::string>& programs) {
  AACO_ASSIGN(const std::vector<TimedRoofline> timed, timed_rooflines(measurements, rows, device));
  std::vector<ProgramRow> listed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (impossible[rows[i]]) continue;
    const auto place = std::find(programs.begin(), programs.end(), measurements[rows[i]].kernel.program) - programs.begin();
    listed.push_back({static_cast<std::size_t>(place), timed[i].roof.compute_s, timed[i].roof.memory_s, timed[i].seconds});
  }
  return fit_program_costs(listed, programs.size(), nominal_floor_s(device));
}

core::Result<Prepared> prepare(std::span<const Measurement> measurements, const Rows& rows, const std::vector<bool>& impossible,
                               const DeviceFacts& device, const LatencyModel& model) {
  AACO_ASSIGN(const std::vector<TimedRoofline> timed, timed_rooflines(measurements, rows, device));
  // Of all rows: a window shows best where a row is impossible.
  const std::vector<bool> full = full_attention(measurements, rows, timed);
  Prepared result;
  result.table.features.columns = feature_count(model.kind);
  result.table.features.values.reserve(rows.size() * result.table.features.columns);
  std::vector<std::string> sites;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (impossible[rows[i]]) continue;
    const Measurement& measured = measurements[rows[i]];
    const Roofline& roof = timed[i].roof;
    const std::vector<float> features = features_of(measured.kernel, device, roof, model.operators);
    result.table.features.values.insert(result.table.features.values.end(), features.begin(), features.end());
    result.table.targets.push_back(
        static_cast<float>(std::log(measured.seconds / nominal_seconds(measured.kernel, device, roof, model))));
    result.table.sizes.push_back(roof.seconds());
    result.table.learnt.push_back(full[i]);
    result.timed.push_back(timed[i]);
    result.rows.push_back(rows[i]);
    sites.push_back(site_of(measured.kernel));
  }
  result.table.groups = number(sites, result.table.group_count);
  // Which of a library's algorithms was at hand for a convolution is in no column; the others' times are factors away.
  if (model.kind == "convolution") result.table.loss = stats::TreeLoss::relative;
  // Kernels of several stacks were measured on one shape: the one that takes longer was not disturbed.
  if (has_programs(model.kind) && !model.operators.empty()) {
    result.table.sizes.clear();
    result.table.column_ratio = 1;  // one column says which kernel it is
    if (model.kind == "experts") result.table.depth = kExpertsDepth;
  }
  if (std::find(result.table.learnt.begin(), result.table.learnt.end(), true) == result.table.learnt.end())
    result.table.learnt.clear();
  return result;
}

Extent extent_of(const std::vector<TimedRoofline>& rows) {
  Extent extent{rows.front().roof.seconds(), 0, intensity(rows.front().roof), 0};
  for (const TimedRoofline& row : rows) {
    extent.least_seconds = std::min(extent.least_seconds, row.roof.seconds());
    extent.most_seconds = std::max(extent.most_seconds, row.roof.seconds());
    extent.least_intensity = std::min(extent.least_intensity, intensity(row.roof));
    extent.most_intensity = std::max(extent.most_intensity, intensity(row.roof));
  }
  return extent;
}

core::Result<LatencyModel> fit_latency(std::span<const Measurement> measurements, const Rows& rows,
                                       const std::vector<bool>& impossible, const DeviceFacts& device,
                                       const FitSettings& settings, std::vector<Residual>& residuals) {
  const Kernel& first = measurements[rows.front()].kernel;
  LatencyModel model;
  model.kind = kind_of(first);
  model.type = first.type;
  model.operators = operators_of(measurements, rows);
  if (has_programs(model.kind) && !model.operators.empty()) {
    AACO_ASSIGN(model.programs, costs_of(measurements, rows, impossible, device, model.operators));
  }
  AACO_ASSIGN(const Prepared prepared, prepare(measurements, rows, impossible, device, model));
  std::vector<TimedRoofline> whole;
  for (std::size_t i = 0; i < prepared.rows.size(); ++i)
    if (prepared.table.learns(i)) whole.push_back(prepared.timed[i]);
  model.ceilings = ceilings_of(whole, device);
  model.extent = extent_of(prepared.timed);
  for (const std::size_t row : prepared.rows) ++model.classes[class_of(measurements[row].kernel)];
  AACO_ASSIGN(Ensemble ensemble, fit_ensemble(prepared.table, settings));
  std::vector<double> measured, estimated;
  for (std::size_t i = 0; i < prepared.rows.size(); ++i) {
    const double nominal = nominal_seconds(measurements[prepared.rows[i]].kernel, device, prepared.timed[i].roof, model);
    measured.push_back(prepared.timed[i].seconds);
    estimated.push_back(nominal * std::exp(ensemble.unseen[i]));
    residuals.push_back({prepared.rows[i], estimated.back()});
  }
  model.quality = quality_of(measured, estimated, prepared.table.group_count);
  model.trees = std::move(ensemble.members);
  model.bounds = std::move(ensemble.bounds);
  return model;
}

// Of compact trees, for a device whose classes share a file of 300 kB: of more large classes each has fewer.
double effort_for(std::span<const Measurement> measurements, const std::map<std::pair<std::string, std::string>, Rows>& classes) {
  constexpr double kLargeClass = 10000, kLargeClasses = 1.33;
  double large = 0;
  for (const auto& [name, rows] : classes) {
    const auto powered = has_programs(name.first) ? 0 : std::count_if(rows.begin(), rows.end(), [&](std::size_t row) {
      return measurements[row].power_watts.has_value();
    });
    large +=
        std::min(1.0, static_cast<double>(rows.size()) / kLargeClass) + std::min(1.0, static_cast<double>(powered) / kLargeClass);
  }
  return std::min(1.0, kLargeClasses / std::max(large, 1e-9));
}

// Where a file has kernels of serving stacks as well: the trees that it has room for, shared out by the classes' rows. Energy,
// whose fit is coarser, and the stacks' kernels, which lie on grids, get a part of what products get.
class TreeBudget {
 public:
  TreeBudget(std::span<const Measurement> measurements, const std::map<std::pair<std::string, std::string>, Rows>& classes) {
    for (const auto& [name, rows] : classes) {
      const Kernel& first = measurements[rows.front()].kernel;
      const auto powered =
          std::count_if(rows.begin(), rows.end(), [&](std::size_t row) { return measurements[row].power_watts.has_value(); });
      stacks_ = stacks_ || !first.program.empty();
      all_ += latency_weight(first, rows.size());
      if (!has_programs(name.first)) all_ += energy_weight(static_cast<std::size_t>(powered));
    }
  }
  // 0: no kernels of stacks, nothing to share out.
  [[nodiscard]] int latency(const Kernel& kernel, std::size_t rows) const {
    return share(latency_weight(kernel, rows)) * (kind_of(kernel) == "experts" ? kShallowTrees : 1);
  }
  [[nodiscard]] int energy(std::size_t rows) const { return share(energy_weight(rows)); }

 private:
  static constexpr double kTreesOfFile = 680, kLargeClass = 10000, kLargeTable = 30000, kStackWeight = 0.75, kExpertsWeight = 0.3,
                          kEnergyWeight = 0.5;
  static constexpr int kShallowTrees = 3;  // have the room of one deep one
  static double latency_weight(const Kernel& kernel, std::size_t rows) {
    const double size = static_cast<double>(rows);
    if (kernel.program.empty()) return std::min(1.0, size / kLargeClass);
    return (kind_of(kernel) == "experts" ? kExpertsWeight : kStackWeight) * std::min(1.0, size / kLargeTable);
  }
  static double energy_weight(std::size_t rows) { return kEnergyWeight * std::min(1.0, static_cast<double>(rows) / kLargeClass); }
  [[nodiscard]] int share(double weight) const {
    return stacks_ ? std::max(1, static_cast<int>(kTreesOfFile * weight / std::max(all_, 1e-9))) : 0;
  }

  bool stacks_ = false;
  double all_ = 0;
};

}  // namespace

std::string site_of(const Kernel& kernel) {
  const auto text = [](auto... values) {
    std::string joined;
    ((joined += (joined.empty() ? "" : "x") + std::to_string(values)), ...);
    return joined;
  };
  if (const auto* s = std::get_if<GemmShape>(&kernel.shape)) return "gemm " + text(s->n, s->k);
  if (const auto* s = std::get_if<ConvolutionShape>(&kernel.shape)) return "filter " + text(s->k, s->c, s->r, s->s, s->groups);
  if (const auto* s = std::get_if<AttentionShape>(&kernel.shape)) return "heads " + text(s->heads, s->kv_heads, s->head_dim);
  if (const auto* s = std::get_if<VectorShape>(&kernel.shape)) return s->op + " " + text(s->cols);
  if (const auto* s = std::get_if<LatentAttentionShape>(&kernel.shape)) return "latent heads " + text(s->heads);
  if (const auto* s = std::get_if<ExpertsShape>(&kernel.shape))
    return "experts " + text(s->hidden, s->inter, s->experts, s->per_token);
  if (const auto* s = std::get_if<CollectiveShape>(&kernel.shape)) return s->op + " ranks " + text(s->ranks, s->ranks_per_node);
  return std::get<OtherShape>(kernel.shape).op;
}

core::Result<DeviceCalibration> calibrate(std::span<const Measurement> measurements, const DeviceFacts& device,
                                          const FitSettings& asked, FittedResiduals& residuals) {
  if (measurements.empty()) return core::fail(ErrorCode::invalid_input, "no measurements of " + device.id + " to calibrate with");
  const RowsWithoutPeak unrated = rows_without_peak(measurements, device);
  std::map<std::pair<std::string, std::string>, Rows> classes;
  for (std::size_t row = 0; row < measurements.size(); ++row)
    if (const Kernel& kernel = measurements[row].kernel; !unrated.classes.contains(class_of(kernel)))
      classes[{std::string(kind_of(kernel)), kernel.type}].push_back(row);
  if (classes.empty())
    return tl::unexpected<core::Error>(
        roofline(measurements[unrated.first].kernel, device).error().with(measurements[unrated.first].where));
  const ImpossibleRows beyond = impossible_rows(measurements, device);
  if (beyond.count + unrated.count == static_cast<std::int64_t>(measurements.size()))
    return core::fail(
        ErrorCode::invalid_input,
        "every measurement is faster than the peak of " + device.id + " allows; the worst is " + measurements[beyond.worst].where,
        "check that latency_us is in microseconds and the rows are from this device");
  DeviceCalibration result;
  result.device = device.id;
  result.compact = asked.compact;
  std::erase_if(classes,
                [&](const auto& each) { return beyond.untrusted.contains(class_of(measurements[each.second.front()].kernel)); });
  if (classes.empty())
    return core::fail(ErrorCode::invalid_input,
                      std::to_string(beyond.count) + " of " + std::to_string(measurements.size()) +
                          " measurements are faster than the peak of " + device.id +
                          " allows, so the others cannot be trusted either; the worst is " + measurements[beyond.worst].where,
                      "check that latency_us is in microseconds and the rows are from this device");
  // Energy has few features, so its trees need to be more.
  constexpr double kEnergyShare = 1.6;
  FitSettings settings = asked;
  if (asked.compact) settings.effort = effort_for(measurements, classes);
  // Products and their power change from one number of rows to the next, and tables have more than 32 of them (docs/results.md).
  constexpr int kProductBins = 64;
  const TreeBudget budget(measurements, classes);
  FitSettings energy_settings = settings;
  energy_settings.effort = std::min(1.0, kEnergyShare * settings.effort);
  energy_settings.compact_bins = kProductBins;
  for (const auto& [name, rows] : classes) {
    settings.compact_bins = name.first == "gemm" ? kProductBins : asked.compact_bins;
    if (asked.compact) settings.trees = budget.latency(measurements[rows.front()].kernel, rows.size());
    AACO_ASSIGN(LatencyModel model, fit_latency(measurements, rows, beyond.impossible, device, settings, residuals.latency));
    result.latency.push_back(std::move(model));
    // A file of 300 kB has room for the energy of products alone.
    if (asked.compact && has_programs(name.first)) continue;
    Rows powered;
    for (const std::size_t row : rows)
      if (measurements[row].power_watts && !beyond.impossible[row]) powered.push_back(row);
    if (powered.size() < kFewestPowers) continue;
    if (asked.compact) energy_settings.trees = budget.energy(powered.size());
    AACO_ASSIGN(EnergyModel energy, fit_energy(measurements, powered, device, energy_settings, residuals.energy));
    result.energy.insert_or_assign(energy_class_of(measurements[powered.front()].kernel), std::move(energy));
  }
  return result;
}

core::Result<DeviceCalibration> calibrate(std::span<const Measurement> measurements, const DeviceFacts& device,
                                          const FitSettings& settings) {
  FittedResiduals unused;
  return calibrate(measurements, device, settings, unused);
}

}  // namespace aaco::estimation
