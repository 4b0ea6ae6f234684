#include "workflows/calibrate/validate_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/random.h"
#include "core/strings.h"
#include "workflows/calibrate/model_samples.h"
#include "workflows/calibration_registry.h"

namespace aaco::workflows {
namespace {

using estimation::Judged;
using estimation::Level;
using estimation::ModelSample;

using Keep = std::function<bool(const ModelSample&)>;

Judged blank(const ModelSample& sample) {
  Judged judged;
  judged.group = sample.group;
  judged.site = sample.model;
  judged.measured = sample.seconds;
  return judged;
}

void add_baselines(const std::vector<ModelSample>& seen, const ModelSample& held, KernelJudgement& into) {
  Judged judged = blank(held);
  judged.estimated = judged.lower = judged.upper = held.terms.roofline();
  into.baselines["spec_roofline"].push_back(judged);
  // The device's own factor; where nothing of it is seen, that of its relatives.
  const bool own = std::any_of(seen.begin(), seen.end(), [&](const ModelSample& other) {
    return other.group == held.group && other.device == held.device;
  });
  double sum = 0, count = 0;
  for (const ModelSample& sample : seen) {
    if (sample.group != held.group || (own && sample.device != held.device)) continue;
    sum += std::log(sample.seconds / sample.terms.roofline());
    ++count;
  }
  if (count == 0) return;
  judged.estimated = judged.lower = judged.upper = held.terms.roofline() * std::exp(sum / count);
  into.baselines["one_factor"].push_back(judged);
}

void add(const PlacedRun& run, const estimation::ModelEstimate& made, Level level, KernelJudgement& into) {
  KernelResidual residual{blank(run.sample), level, run.where};
  residual.judged.estimated = made.seconds;
  residual.judged.lower = made.lower;
  residual.judged.upper = made.upper;
  into.latency.push_back(std::move(residual));
}

void add(const PlacedRun& run, const estimation::ModelFit& fit, Level level, KernelJudgement& into) {
  add(run, estimate_model(fit, run.sample.terms, run.sample.device), level, into);
}

void add_without(const PlacedRun& run, KernelJudgement& into) {
  into.latency.push_back({blank(run.sample), Level::calibrated, run.where});
}

// `own`: of the device that is judged; `relatives`: of others. `may_see` says whether the fit for `held` may use a sample.
core::Status judge(const std::vector<PlacedRun>& own, const std::vector<PlacedRun>& relatives,
                   const std::function<std::array<double, estimation::kTerms>(bool eager)>& usual, Level level,
                   const std::function<bool(const ModelSample& held, const ModelSample& other)>& may_see, KernelJudgement& into) {
  for (const PlacedRun& held : own) {
    std::vector<ModelSample> seen;
    for (const auto* runs : {&own, &relatives})
      for (const PlacedRun& run : *runs)
        if (run.family == held.family && may_see(held.sample, run.sample)) seen.push_back(run.sample);
    add_baselines(seen, held.sample, into);
    if (seen.empty()) {
      add_without(held, into);
      continue;
    }
    AACO_ASSIGN(const auto fit, fit_models(seen, usual(held.eager)));
    add(held, fit, level, into);
  }
  return {};
}

KernelJudgement by_fits(const std::vector<PlacedRun>& runs, const std::map<std::string, estimation::ModelFit>& fits) {
  KernelJudgement result;
  for (const PlacedRun& run : runs)
    if (const auto fit = fits.find(run.family); fit != fits.end())
      add(run, fit->second, Level::calibrated, result);
    else
      add_without(run, result);
  return result;
}

void add_memory(const KernelJudgement& memory, KernelJudgement& into) {
  for (const KernelResidual& residual : memory.latency) into.memory.push_back(residual.judged);
}

core::Result<KernelJudgement> by_registry(const KernelTrial& trial, const PlacedRuns& own) {
  AACO_ASSIGN(const auto set, load_calibrations(trial.services.paths, trial.registry, {trial.device.id}));
  const auto entry = set.entries().find(trial.device.id);
  const estimation::DeviceCalibration fitted =
      entry == set.entries().end() ? estimation::DeviceCalibration() : entry->second.calibration;
  KernelJudgement result = by_fits(own.runs, fitted.models);
  add_memory(by_fits(own.memory, fitted.memory), result);
  for (const PlacedRun& run : own.runs) add_baselines({}, run.sample, result);
  return result;
}

// How far another device's fit may be off beyond its own bounds, half a 90 % interval of the logarithm: of the same architecture,
// of the maker, of another maker. Chosen on eight GPUs that ran FP32 transformers and a module in four power states
// (docs/results.md).
constexpr std::array kCarried{0.25, 0.3, 0.7};

std::size_t closeness(const estimation::DeviceFacts& a, const estimation::DeviceFacts& b) {
  if (a.vendor != b.vendor) return 2;
  return a.architecture == b.architecture ? 0 : 1;
}

using Fits = std::map<std::string, estimation::ModelFit>;

// By the fits of the nearest devices that have the model's family, each as for a device that it has not seen: their geometric
// mean. Empty: nobody lends.
std::optional<estimation::ModelEstimate> borrowed(const PlacedRun& run, const estimation::CalibrationSet& set,
                                                  const estimation::DeviceFacts& device,
                                                  Fits estimation::DeviceCalibration::*kind) {
  std::size_t nearest = kCarried.size();
  double count = 0, logarithm = 0, low = 0, high = 0;
  for (const auto& [id, entry] : set.entries()) {
    const Fits& fits = entry.calibration.*kind;
    const auto fit = fits.find(run.family);
    if (id == device.id || !same_class(entry.facts, device) || fit == fits.end()) continue;
    const std::size_t close = closeness(entry.facts, device);
    if (close > nearest) continue;
    if (close < nearest) count = logarithm = low = high = 0;
    nearest = close;
    ++count;
    logarithm += std::log(estimate_model(fit->second, run.sample.terms, "").seconds);
    low += fit->second.low;
    high += fit->second.high;
  }
  if (count == 0) return std::nullopt;
  const double seconds = std::exp(logarithm / count), carried = kCarried[nearest];
  return estimation::ModelEstimate{seconds, seconds * std::exp(-std::hypot(low / count, carried)),
                                   seconds * std::exp(std::hypot(high / count, carried))};
}

KernelJudgement by_lenders(const std::vector<PlacedRun>& runs, const estimation::CalibrationSet& set,
                           const estimation::DeviceFacts& device, Fits estimation::DeviceCalibration::*kind) {
  KernelJudgement result;
  for (const PlacedRun& run : runs)
    if (const auto made = borrowed(run, set, device, kind))
      add(run, *made, Level::interpolated, result);
    else
      add_without(run, result);
  return result;
}

core::Result<KernelJudgement> by_lenders(const KernelTrial& trial, const PlacedRuns& own) {
  AACO_ASSIGN(const auto set, load_calibrations(trial.services.paths, trial.registry, trial.lenders));
  KernelJudgement result = by_lenders(own.runs, set, trial.device, &estimation::DeviceCalibration::models);
  add_memory(by_lenders(own.memory, set, trial.device, &estimation::DeviceCalibration::memory), result);
  for (const PlacedRun& run : own.runs) add_baselines({}, run.sample, result);
  return result;
}

// Which models are held out together: each by itself, or cut into as many folds as are asked for, by chance.
std::map<std::string, int> folds_of(const PlacedRuns& own, const ValidateRequest& request) {
  std::set<std::string> seen;
  for (const PlacedRun& run : own.runs) seen.insert(run.sample.model);
  std::vector<std::string> names(seen.begin(), seen.end());
  const int models = static_cast<int>(names.size()), folds = std::min(request.folds.value_or(models), models);
  core::Random random(request.seed);
  if (folds < models) std::shuffle(names.begin(), names.end(), random);
  std::map<std::string, int> fold_of;
  for (int i = 0; i < models; ++i) fold_of[names[static_cast<std::size_t>(i)]] = i % std::max(1, folds);
  return fold_of;
}

// "resnet, vgg; bert": the models of a fold by commas, folds by semicolons.
std::string held_out(const std::map<std::string, int>& fold_of) {
  std::map<int, std::vector<std::string>> folds;
  for (const auto& [model, fold] : fold_of) folds[fold].push_back(model);
  const bool alone = std::all_of(folds.begin(), folds.end(), [](const auto& fold) { return fold.second.size() == 1; });
  std::vector<std::string> texts;
  for (const auto& [fold, models] : folds) texts.push_back(core::join(models, ", "));
  return core::join(texts, alone ? ", " : "; ");
}

}  // namespace

core::Result<KernelJudgement> judge_models(const KernelTrial& trial, const hardware::Device& device, Level level,
                                           std::vector<std::string>& notes) {
  AACO_ASSIGN(const PlacedRuns own, place_models(trial.files.devices.at(trial.device.id).models, device, trial.services));
  for (std::string& note : own.notes()) notes.push_back(std::move(note));
  const bool by_relatives = trial.request.split == Split::device;
  AACO_ASSIGN(const auto relatives, related_runs(trial.files, device, trial.registry, trial.lenders,
                                                 by_relatives ? Lent::all : Lent::transformers, trial.services));
  const auto usual = [&](bool eager) { return estimation::usual_coefficients(trial.device, eager); };
  const std::map<std::string, int> fold_of = folds_of(own, trial.request);
  const auto other_model = [&](const ModelSample& held, const ModelSample& other) {
    const auto fold = fold_of.find(other.model);
    return fold == fold_of.end() || fold->second != fold_of.at(held.model);
  };
  KernelJudgement result;
  if (level == Level::theoretical) {
    for (const PlacedRun& run : own.runs) {
      add_baselines({}, run.sample, result);
      add(run, run.theoretical, level, result);
    }
  } else if (trial.request.split == Split::model) {
    notes.push_back(fmt::format("{} rows; cross-validated, holding out {}; fitted with {} rows from similar devices",
                                own.runs.size(), held_out(fold_of), relatives.size()));
    AACO_TRY(judge(own.runs, relatives, usual, Level::calibrated, other_model, result));
    KernelJudgement memory;
    const auto usual_memory = [](bool) { return estimation::usual_memory_coefficients(); };
    AACO_TRY(judge(own.memory, {}, usual_memory, Level::calibrated, other_model, memory));
    add_memory(memory, result);
  } else if (by_relatives) {
    AACO_TRY(judge(
        own.runs, relatives, usual, Level::interpolated,
        [](const ModelSample& held, const ModelSample& other) { return other.device != held.device; }, result));
  } else if (level == Level::interpolated) {
    AACO_ASSIGN(result, by_lenders(trial, own));
  } else {
    AACO_ASSIGN(result, by_registry(trial, own));
  }
  for (const PlacedRun& run : own.without) add_without(run, result);
  return result;
}

}  // namespace aaco::workflows
