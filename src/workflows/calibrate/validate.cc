#include "workflows/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "core/files.h"
#include "core/random.h"
#include "core/strings.h"
#include "estimation/calibration.h"
#include "hardware/die.h"
#include "report/paper.h"
#include "workflows/calibrate/validate_kernels.h"
#include "workflows/calibrate/validate_models.h"
#include "workflows/calibration_registry.h"
#include "workflows/hardware.h"
#include "workflows/measurement_files.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using estimation::Judged;
using estimation::Level;

Judgement judge(const std::vector<Judged>& rows, std::uint64_t seed) {
  estimation::ScoreSettings settings;
  settings.seed = seed;
  return {estimation::score(rows, settings), estimation::score_groups(rows, settings)};
}

core::Result<std::vector<std::string>> ids_of(const std::vector<std::string>& names, const hardware::DeviceRegistry& registry) {
  std::vector<std::string> ids;
  for (const std::string& name : names) {
    AACO_ASSIGN(const hardware::Device entry, registry.find(name));
    AACO_ASSIGN(const hardware::Device device, hardware::as_shown(entry));
    ids.push_back(device.id_with_state());
  }
  return ids;
}

core::Status write_residuals(const std::string& path, const KernelJudgement& judged) {
  report::PaperTable table;
  table.header = {"where",        "class",    "site",     "level",          "measured_us",
                  "estimated_us", "lower_us", "upper_us", "relative_error", "rejected"};
  const auto micros = [](double seconds) { return fmt::format("{:.9g}", seconds * 1e6); };
  const auto add = [&](const std::vector<KernelResidual>& rows, const char* rejected) {
    for (const auto& [of, level, where] : rows) {
      std::vector<std::string> cells{where, of.group, of.site, "", micros(of.measured), "", "", "", "", rejected};
      if (of.estimated) {
        cells[3] = std::string(to_string(level));
        cells[5] = micros(*of.estimated);
        cells[6] = micros(of.lower);
        cells[7] = micros(of.upper);
        cells[8] = fmt::format("{:.6g}", *of.estimated / of.measured - 1);
      }
      table.rows.push_back(std::move(cells));
    }
  };
  add(judged.latency, "0");
  add(judged.rejected, "1");
  return core::write_file_atomic(path, report::table_csv(table));
}

Level level_of(const ValidateRequest& request) {
  if (request.level) return *request.level;
  return request.split == Split::device ? Level::interpolated : Level::calibrated;
}

core::Status check(const ValidateRequest& request) {
  const Level level = level_of(request);
  if (request.measurements.empty())
    return core::fail(ErrorCode::invalid_argument, "no measurements to validate against", "pass files with --measurements");
  if (request.folds && *request.folds < 2) return core::fail(ErrorCode::invalid_argument, "--folds must be at least 2");
  if (request.compact && request.split != Split::site && request.split != Split::device)
    return core::fail(ErrorCode::invalid_argument, "--compact requires --split site or --split device",
                      "without --split, the registry's calibrations are validated in the form that they have");
  if (request.split == Split::model && level != Level::calibrated)
    return core::fail(ErrorCode::invalid_argument, "--split model requires calibrated estimates", "remove --level");
  if (request.split == Split::site && level != Level::calibrated)
    return core::fail(ErrorCode::invalid_argument, "--split site requires calibrated estimates",
                      "remove --level, or use --split device");
  if (request.split == Split::device && level != Level::interpolated)
    return core::fail(ErrorCode::invalid_argument, "--split device requires interpolated estimates", "remove --level");
  if (const std::string folder = core::parent_path(request.residuals); !folder.empty() && !core::is_directory(folder))
    return core::fail(ErrorCode::not_found, "--residuals: " + folder + " is not a directory");
  return {};
}

void append(KernelJudgement&& more, KernelJudgement& into) {
  std::move(more.latency.begin(), more.latency.end(), std::back_inserter(into.latency));
  into.memory = std::move(more.memory);
  for (auto& [name, rows] : more.baselines) {
    auto& all = into.baselines[name];
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
}

// Kernels, whole models or both, as the files and the split have it.
core::Result<KernelJudgement> judge_all(const KernelTrial& trial, const hardware::Device& device,
                                        std::vector<std::string>& notes) {
  const DeviceMeasurements& own = trial.files.devices.at(trial.device.id);
  const bool kernels = !own.kernels.empty() && trial.request.split != Split::model;
  const bool models = !own.models.empty() && trial.request.split != Split::site;
  const auto left_out = [&](std::size_t rows, const char* what) {
    if (rows > 0) notes.push_back(std::to_string(rows) + " rows of " + what + " ignored by this --split");
  };
  if (!kernels) left_out(own.kernels.size(), "kernels");
  if (!models) left_out(own.models.size(), "whole models");
  if (!kernels && !models)
    return core::fail(
        ErrorCode::invalid_input, "the files contain no rows for " + trial.device.id + " that this --split can validate",
        own.models.empty() ? "for kernels, use --split site or device" : "for whole models, use --split model or device");
  KernelJudgement result;
  if (kernels) {
    AACO_ASSIGN(result, judge_kernels(trial));
    std::move(result.notes.begin(), result.notes.end(), std::back_inserter(notes));
  }
  if (models) {
    AACO_ASSIGN(KernelJudgement more, judge_models(trial, device, level_of(trial.request), notes));
    append(std::move(more), result);
  }
  const bool nothing =
      level_of(trial.request) == Level::interpolated && !kernels &&
      std::none_of(result.latency.begin(), result.latency.end(), [](const auto& row) { return row.judged.estimated; });
  if (nothing && trial.request.split != Split::device)
    return core::fail(
        ErrorCode::invalid_input, "no calibration available for estimating whole models on " + trial.device.id,
        "calibrate a similar device with such models ('aaco calibrate'), or pass its tables as well and use --split device");
  if (nothing)
    return core::fail(ErrorCode::invalid_input,
                      "cannot estimate from other devices: the files contain no such models for another " +
                          std::string(to_string(device.kind)) + " of the same vendor as " + trial.device.id,
                      "pass tables of similar devices as well, or try --level theoretical");
  return result;
}

}  // namespace

core::Result<ValidateOutcome> validate(const ValidateRequest& request, const Services& services) {
  AACO_TRY(check(request));
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  AACO_ASSIGN(const hardware::Device device, find_device(request.hardware, services));
  const estimation::DeviceFacts facts = estimation::facts_of(device);
  AACO_ASSIGN(const MeasurementFiles files, read_measurements(request.measurements, registry));
  const auto own = files.devices.find(facts.id);
  if (own == files.devices.end())
    return core::fail(ErrorCode::invalid_input, "the files contain no measurements for " + facts.id, devices_text(files));
  ValidateOutcome outcome;
  outcome.device = facts.id;
  outcome.level = level_of(request);
  for (std::string& note : files.notes()) outcome.notes.push_back(std::move(note));
  if (request.folds && (request.split == Split::none || request.split == Split::device))
    outcome.notes.emplace_back("--folds has no effect without --split site or --split model");
  if (const auto unrated = rows_without_peak(own->second.kernels, facts); unrated.count > 0)
    outcome.notes.push_back(describe(unrated, own->second.kernels, facts.id));
  AACO_ASSIGN(const std::vector<std::string> lenders, ids_of(request.calibration_from, registry));
  KernelTrial trial{own->second.kernels, facts, files, registry, request, lenders, services};
  AACO_ASSIGN(const KernelJudgement kernels, judge_all(trial, device, outcome.notes));
  std::vector<Judged> rows;
  for (const KernelResidual& residual : kernels.latency) {
    rows.push_back(residual.judged);
    if (residual.judged.estimated) ++outcome.levels[std::string(to_string(residual.level))];
  }
  services.progress("intervals");
  outcome.latency = judge(rows, request.seed);
  if (outcome.levels.size() > 1)
    for (const auto& [name, count] : outcome.levels) {
      std::vector<Judged> of_level;
      for (const KernelResidual& residual : kernels.latency)
        if (residual.judged.estimated && to_string(residual.level) == name) of_level.push_back(residual.judged);
      outcome.by_level.emplace(name, judge(of_level, request.seed));
    }
  if (!kernels.rejected.empty()) {
    outcome.rejected = static_cast<std::int64_t>(kernels.rejected.size());
    outcome.notes.push_back(describe(impossible_rows(own->second.kernels, facts), own->second.kernels));
    for (const KernelResidual& residual : kernels.rejected) rows.push_back(residual.judged);
    outcome.with_rejected = judge(rows, request.seed);
  }
  if (!kernels.memory.empty()) outcome.memory = judge(kernels.memory, request.seed);
  if (!kernels.energy.empty()) {
    outcome.energy = judge(kernels.energy, request.seed);
    outcome.predicted_energy = judge(kernels.energy_of_prediction, request.seed);
  }
  for (const auto& [name, baseline] : kernels.baselines) outcome.baselines.emplace(name, judge(baseline, request.seed));
  if (!request.residuals.empty()) AACO_TRY(write_residuals(request.residuals, kernels));
  return outcome;
}

core::Json to_json(const ValidateOutcome& outcome) {
  const auto judgement = [](const Judgement& judged) {
    core::Json document = estimation::to_json(judged.all);
    core::Json classes = core::Json::object();
    for (const auto& [name, scores] : judged.classes) classes.set(name, estimation::to_json(scores));
    return document.set("classes", std::move(classes));
  };
  core::Json document =
      core::Json::object({{"schema_version", 1}, {"device", outcome.device}, {"level", std::string(to_string(outcome.level))}});
  const core::Json latency = judgement(outcome.latency);
  for (const auto& [name, value] : latency.members()) document.set(name, value);
  core::Json levels = core::Json::object();
  for (const auto& [name, count] : outcome.levels) levels.set(name, count);
  document.set("levels", std::move(levels)).set("rejected", outcome.rejected);
  if (!outcome.by_level.empty()) {
    core::Json by_level = core::Json::object();
    for (const auto& [name, judged] : outcome.by_level) by_level.set(name, judgement(judged));
    document.set("by_level", std::move(by_level));
  }
  if (outcome.with_rejected) document.set("with_rejected", judgement(*outcome.with_rejected));
  core::Json baselines = core::Json::object();
  for (const auto& [name, judged] : outcome.baselines) baselines.set(name, judgement(judged));
  document.set("baselines", std::move(baselines));
  if (outcome.memory) document.set("memory", judgement(*outcome.memory));
  if (outcome.energy) document.set("energy", judgement(*outcome.energy));
  if (outcome.predicted_energy) document.set("energy_of_predicted_time", judgement(*outcome.predicted_energy));
  core::Json notes = core::Json::texts(outcome.notes);
  document.set("notes", std::move(notes));
  return document;
}

}  // namespace aaco::workflows
