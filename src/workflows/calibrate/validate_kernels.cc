#include "workflows/calibrate/validate_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "estimation/roofline.h"
#include "workflows/calibration_registry.h"

namespace aaco::workflows {
namespace {

using estimation::CalibrationSet;
using estimation::Judged;
using estimation::Level;
using estimation::Measurement;

constexpr int kUsualFolds = 5;

// Fold of each row: whole sites go to one fold, each kind's sites evenly. `folds` becomes the number of sites where it is larger.
std::vector<int> folds_of(const std::vector<Measurement>& rows, int& folds, std::uint64_t seed) {
  std::map<std::string, int> sites;
  for (const Measurement& row : rows) sites.try_emplace(site_of(row.kernel), 0);
  folds = std::min(folds, static_cast<int>(sites.size()));
  std::vector<std::string> names;
  for (const auto& [name, fold] : sites) names.push_back(name);
  core::Random random(seed);
  std::shuffle(names.begin(), names.end(), random);
  for (std::size_t i = 0; i < names.size(); ++i) sites[names[i]] = static_cast<int>(i) % folds;
  std::vector<int> result;
  for (const Measurement& row : rows) result.push_back(sites.at(site_of(row.kernel)));
  return result;
}

// What roofline baselines are fitted on and tried with.
class Baselines {
 public:
  void learn(const Measurement& row, const estimation::DeviceFacts& device) {
    const auto roof = roofline(row.kernel, device);
    if (!roof || row.seconds < least_possible_seconds(row.kernel, device)) return;
    auto& [sum, count] = factors_[class_of(row.kernel)];
    sum += std::log(row.seconds / roof->seconds());
    count += 1;
  }
  void add(const Measurement& row, const estimation::DeviceFacts& device, Judged judged, KernelJudgement& into) const {
    const auto roof = roofline(row.kernel, device);
    judged.estimated = roof ? std::optional(roof->seconds()) : std::nullopt;
    judged.lower = judged.upper = judged.estimated.value_or(0);
    into.baselines["spec_roofline"].push_back(judged);
    const auto factor = factors_.find(judged.group);
    if (factor == factors_.end() || !roof) return;
    judged.estimated = roof->seconds() * std::exp(factor->second.first / factor->second.second);
    judged.lower = judged.upper = *judged.estimated;
    into.baselines["one_factor"].push_back(judged);
  }

 private:
  std::map<std::string, std::pair<double, double>> factors_;  // sum of logarithms, count
};

Judged blank(const Measurement& row) {
  Judged judged;
  judged.group = class_of(row.kernel);
  judged.site = judged.group + " " + site_of(row.kernel);
  judged.measured = row.seconds;
  return judged;
}

void try_row(const KernelTrial& trial, const Measurement& row, const CalibrationSet& set, const Baselines& baselines,
             estimation::Level level, KernelJudgement& into) {
  KernelResidual residual{blank(row), level, row.where};
  const auto made = estimate(row.kernel, trial.device, &set, level);
  if (made) {
    // With a level asked for, what falls below it is no estimate of that level; else everything that was fitted counts.
    const bool counts =
        made->level == level || (!trial.request.level && level == Level::calibrated && made->level == Level::interpolated);
    if (counts) residual.judged.estimated = made->seconds;
    residual.judged.lower = made->lower;
    residual.judged.upper = made->upper;
    if (const auto& same = made->same_laboratory) residual.judged.same_laboratory = stats::Interval{same->lower, same->upper};
    residual.level = made->level;
  }
  if (row.seconds < least_possible_seconds(row.kernel, trial.device)) {
    into.rejected.push_back(std::move(residual));
    return;
  }
  baselines.add(row, trial.device, blank(row), into);
  into.latency.push_back(std::move(residual));
  if (!row.power_watts || level != estimation::Level::calibrated) return;
  Judged energy = blank(row);
  energy.measured = *row.power_watts * row.seconds;
  Judged predicted = energy;
  const auto fill = [](const core::Result<estimation::EnergyEstimate>& drawn, Judged& judged) {
    if (!drawn) return;
    judged.estimated = drawn->joules();
    judged.lower = drawn->lower;
    judged.upper = drawn->upper;
  };
  fill(energy_of(row.kernel, trial.device, row.seconds, set), energy);
  if (made) fill(energy_of(row.kernel, trial.device, *made, set), predicted);
  into.energy.push_back(std::move(energy));
  into.energy_of_prediction.push_back(std::move(predicted));
}

core::Result<KernelJudgement> by_sites(const KernelTrial& trial) {
  KernelJudgement result;
  int count = trial.request.folds.value_or(kUsualFolds);
  const std::vector<int> folds = folds_of(trial.rows, count, trial.request.seed);
  if (count < 2)
    return core::fail(core::ErrorCode::invalid_input,
                      "only one site for " + trial.device.id + " in the files; --split site needs at least two",
                      "pass tables with more shapes, or remove --split to validate the registry's calibration");
  for (int fold = 0; fold < count; ++fold) {
    trial.services.progress("fold " + std::to_string(fold + 1) + " of " + std::to_string(count));
    std::vector<Measurement> seen;
    Baselines baselines;
    for (std::size_t i = 0; i < trial.rows.size(); ++i) {
      if (folds[i] == fold) continue;
      seen.push_back(trial.rows[i]);
      baselines.learn(trial.rows[i], trial.device);
    }
    CalibrationSet set;
    estimation::FitSettings settings;
    settings.seed = trial.request.seed;
    settings.compact = trial.request.compact;
    AACO_ASSIGN(auto calibration, calibrate(seen, trial.device, settings));
    set.add(std::move(calibration), trial.device);
    for (std::size_t i = 0; i < trial.rows.size(); ++i)
      if (folds[i] == fold) try_row(trial, trial.rows[i], set, baselines, estimation::Level::calibrated, result);
  }
  return result;
}

bool may_lend(const KernelTrial& trial, const std::string& id) {
  const auto& lenders = trial.lenders;
  return id != trial.device.id && (lenders.empty() || std::find(lenders.begin(), lenders.end(), id) != lenders.end());
}

// The other devices of the files are calibrated here, and lend.
core::Result<KernelJudgement> by_devices(const KernelTrial& trial) {
  CalibrationSet set;
  Baselines baselines;
  KernelJudgement result;
  for (const auto& [id, rows] : trial.files.devices) {
    if (!may_lend(trial, id) || rows.kernels.empty()) continue;
    trial.services.progress("calibrating " + id);
    AACO_ASSIGN(const hardware::Device device, trial.registry.find(id));
    const estimation::DeviceFacts facts = estimation::facts_of(device);
    if (const auto unrated = rows_without_peak(rows.kernels, facts); unrated.count > 0) {
      result.notes.push_back(describe(unrated, rows.kernels, id));
      if (unrated.count == static_cast<std::int64_t>(rows.kernels.size())) continue;
    }
    estimation::FitSettings settings;
    settings.compact = trial.request.compact;
    AACO_ASSIGN(auto calibration, calibrate(rows.kernels, facts, settings));
    set.add(std::move(calibration), facts);
    for (const Measurement& row : rows.kernels) baselines.learn(row, facts);
  }
  if (set.entries().empty())
    return core::fail(core::ErrorCode::invalid_input,
                      "the files contain no other device from which to estimate " + trial.device.id);
  for (const Measurement& row : trial.rows) try_row(trial, row, set, baselines, estimation::Level::interpolated, result);
  return result;
}

core::Result<KernelJudgement> by_registry(const KernelTrial& trial) {
  const auto level = trial.request.level.value_or(estimation::Level::calibrated);
  CalibrationSet set;
  if (level == estimation::Level::calibrated) {
    // Classes that its own files lack are lent, as in any prediction.
    const std::vector<std::string> own =
        trial.request.level ? std::vector<std::string>{trial.device.id} : std::vector<std::string>();
    AACO_ASSIGN(set, load_calibrations(trial.services.paths, trial.registry, own));
  } else if (level == estimation::Level::interpolated) {
    AACO_ASSIGN(set, load_calibrations(trial.services.paths, trial.registry, trial.lenders));
  }
  KernelJudgement result;
  if (level == estimation::Level::calibrated && !set.entries().contains(trial.device.id))
    result.notes.push_back("no calibration for " + trial.device.id +
                           ": create one with 'aaco calibrate', or use --split or --level theoretical");
  for (const Measurement& row : trial.rows) try_row(trial, row, set, {}, level, result);
  AACO_TRY(set.status());
  return result;
}

}  // namespace

core::Result<KernelJudgement> judge_kernels(const KernelTrial& trial) {
  switch (trial.request.split) {
    case Split::site: return by_sites(trial);
    case Split::device: return by_devices(trial);
    case Split::model:
    case Split::none: break;
  }
  return by_registry(trial);
}

}  // namespace aaco::workflows
