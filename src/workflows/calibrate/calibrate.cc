#include "workflows/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "estimation/calibration.h"
#include "estimation/calibration_file.h"
#include "workflows/benchmark.h"
#include "workflows/calibrate/elsewhere.h"
#include "workflows/calibrate/model_samples.h"
#include "workflows/calibration_registry.h"
#include "workflows/hardware.h"
#include "workflows/measurement_files.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using estimation::Measurement;

core::Result<std::vector<std::string>> tables_in(const std::string& folder) {
  AACO_ASSIGN(std::vector<std::string> names, core::list_directory(folder));
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".csv"); });
  for (std::string& name : names) name = core::join_path(folder, name);
  return names;
}

// Tables that `aaco benchmark` wrote for this device, of one backend.
core::Result<std::vector<std::string>> own_tables(const core::Paths& paths, const std::string& device,
                                                  const std::string& backend) {
  const std::string folder = benchmark_folder(paths, device, kDefaultBackend);
  std::map<std::string, std::vector<std::string>> found;  // backend -> tables
  if (core::is_directory(folder)) {
    AACO_ASSIGN(found[kDefaultBackend], tables_in(folder));
    AACO_ASSIGN(const auto names, core::list_directory(folder));
    for (const std::string& name : names)
      if (const std::string other = benchmark_folder(paths, device, name); core::is_directory(other)) {
        AACO_ASSIGN(found[name], tables_in(other));
      }
  }
  std::erase_if(found, [](const auto& entry) { return entry.second.empty(); });
  if (found.empty() || (!backend.empty() && !found.contains(backend)))
    return core::fail(ErrorCode::not_found,
                      "no benchmark results for " + device + (backend.empty() ? "" : " on " + backend) + " in " + folder,
                      "run 'aaco benchmark --suite micro" + (backend.empty() ? "" : " --backend " + backend) +
                          "', or pass measurement tables with --measurements");
  if (!backend.empty()) return found.at(backend);
  if (found.size() == 1) return found.begin()->second;
  std::vector<std::string_view> backends;
  for (const auto& [name, tables] : found) backends.push_back(name);
  return core::fail(ErrorCode::invalid_argument,
                    "found benchmark results for " + device + " on several backends: " + core::join(backends, ", "),
                    "select one with --backend");
}

std::vector<BadSite> worst_sites(const std::vector<Measurement>& rows, const estimation::FittedResiduals& residuals,
                                 const estimation::DeviceCalibration& calibration) {
  constexpr std::size_t kShown = 10;
  std::set<std::string> untested;  // of one site, which every member of the fit has seen
  for (const estimation::LatencyModel& model : calibration.latency)
    if (!model.quality.tested()) untested.insert(model.kind + " " + model.type);
  std::map<std::pair<std::string, std::string>, BadSite> sites;
  for (const estimation::Residual& residual : residuals.latency) {
    const Measurement& row = rows[residual.row];
    if (untested.contains(std::string(kind_of(row.kernel)) + " " + row.kernel.type)) continue;
    BadSite& site = sites[{class_of(row.kernel), site_of(row.kernel)}];
    ++site.rows;
    site.mean_error += std::abs(residual.estimate / row.seconds - 1);
  }
  std::vector<BadSite> result;
  for (auto& [name, site] : sites) {
    site.group = name.first;
    site.site = name.second;
    site.mean_error /= static_cast<double>(site.rows);
    result.push_back(site);
  }
  std::sort(result.begin(), result.end(), [](const BadSite& a, const BadSite& b) { return a.mean_error > b.mean_error; });
  if (result.size() > kShown) result.resize(kShown);
  return result;
}

// A probe that others disturbed left peaks that the benchmarks passed.
std::optional<std::string> outdated_probe(const std::vector<Measurement>& rows, estimation::DeviceFacts facts) {
  if (!facts.measured_peaks) return std::nullopt;
  facts.measured_peaks = false;
  const estimation::ImpossibleRows beyond = impossible_rows(rows, facts);
  if (beyond.count == 0) return std::nullopt;
  return fmt::format(
      "{} more than 10 % above the peak measured by 'aaco hardware probe' (worst: {:.1f}x); the machine was busy during the "
      "probe. Probe again on an idle machine, then recalibrate",
      rows_text(beyond.count), beyond.worst_times);
}

std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", ratio * 100);
  return text;
}

// What would narrow the fit most, by rules of thumb: classes of few sites, then the surroundings of the worst sites.
std::vector<std::string> advice(const CalibrateOutcome& outcome) {
  constexpr std::int64_t kFewSites = 30;
  constexpr double kBadSite = 0.2;
  std::vector<std::string> result;
  for (const estimation::LatencyModel& model : outcome.calibration.latency)
    if (model.quality.sites < kFewSites)
      result.push_back("measure more sites of " + model.kind + " " + model.type + ": " + std::to_string(model.quality.sites) +
                       " is a small sample, so the intervals are widened");
  constexpr std::int64_t kFewModels = 10;
  for (const auto& [family, fit] : outcome.calibration.models)
    if (fit.quality.sites < kFewModels)
      result.push_back("measure more models of " + family + ": " + std::to_string(fit.quality.sites) +
                       " is a small sample, so the intervals are widened to the largest error");
  for (const BadSite& site : outcome.worst) {
    constexpr std::size_t kMaxAdvice = 5;
    if (result.size() >= kMaxAdvice || site.mean_error < kBadSite) break;
    result.push_back("measure shapes near " + site.site + " (" + site.group + "): held-out error " + percent(site.mean_error));
  }
  return result;
}

// Rows whose power nothing was learnt from.
std::optional<std::string> unused_powers(const std::vector<Measurement>& rows, const estimation::DeviceCalibration& calibration) {
  std::map<std::string, std::size_t> unused;
  for (const Measurement& row : rows)
    if (row.power_watts && !calibration.energy.contains(energy_class_of(row.kernel))) ++unused[energy_class_of(row.kernel)];
  if (unused.empty()) return std::nullopt;
  std::string text = "no energy model for";
  for (const auto& [name, count] : unused) text += " " + name + " (" + std::to_string(count) + " rows with power_w),";
  text.back() = ':';
  return text + " " + std::to_string(estimation::kFewestPowers) + " rows per class are required";
}

// By family. Times with the relatives' rows, each device with its own factor; memory, which is the runtime's, without.
core::Status fit_whole_models(const MeasurementFiles& files, const hardware::Device& device,
                              const hardware::DeviceRegistry& registry, const Services& services,
                              estimation::DeviceCalibration& into, std::vector<std::string>& notes) {
  const estimation::DeviceFacts facts = estimation::facts_of(device);
  AACO_ASSIGN(const PlacedRuns own, place_models(files.devices.at(facts.id).models, device, services));
  for (std::string& note : own.notes()) notes.push_back(std::move(note));
  if (own.runs.empty()) return {};
  AACO_ASSIGN(const auto relatives, related_runs(files, device, registry, {}, Lent::transformers, services));
  std::map<std::pair<std::string, bool>, std::vector<estimation::ModelSample>> families;
  for (const PlacedRun& run : own.runs) families[{run.family, run.eager}].push_back(run.sample);
  for (const PlacedRun& run : relatives)
    if (const auto family = families.find({run.family, run.eager}); family != families.end())
      family->second.push_back(run.sample);
  for (const auto& [family, samples] : families) {
    AACO_ASSIGN(into.models[family.first], fit_models(samples, estimation::usual_coefficients(facts, family.second)));
  }
  std::map<std::string, std::vector<estimation::ModelSample>> peaks;
  for (const PlacedRun& run : own.memory) peaks[run.family].push_back(run.sample);
  for (const auto& [family, samples] : peaks) {
    AACO_ASSIGN(into.memory[family], fit_models(samples, estimation::usual_memory_coefficients()));
  }
  return {};
}

// The bounds of what is fitted to measurements of others, by what further laboratories measured on the device and for other
// classes by the term asked for.
core::Status widen_for_others(const CalibrateRequest& request, const hardware::DeviceRegistry& registry,
                              const estimation::DeviceFacts& facts, CalibrateOutcome& outcome) {
  std::vector<std::string>& tables = outcome.calibration.provenance.measurements;
  if (!request.elsewhere.empty()) {
    AACO_ASSIGN(const MeasurementFiles files, read_measurements(request.elsewhere, registry));
    const auto rows = files.devices.find(facts.id);
    if (rows == files.devices.end())
      return core::fail(ErrorCode::invalid_input, "--elsewhere: no measurements for " + facts.id, devices_text(files));
    AACO_ASSIGN(outcome.elsewhere, elsewhere_terms(outcome.calibration, facts, rows->second.kernels));
    for (const std::string& file : files.files) tables.push_back(file + " (bounds)");
  }
  for (estimation::LatencyModel& model : outcome.calibration.latency) {
    const auto found = outcome.elsewhere.find(model.kind + " " + model.type);
    model.bounds.elsewhere = found != outcome.elsewhere.end() ? found->second : request.elsewhere_term.value_or(0);
    if (model.bounds.elsewhere > 0) outcome.elsewhere[model.kind + " " + model.type] = model.bounds.elsewhere;
  }
  return {};
}

// Seconds since 1970 that SOURCE_DATE_EPOCH says, for files that are the same whenever they are made; else now.
std::string creation_time(const core::Environment& environment) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  if (const auto text = environment.get("SOURCE_DATE_EPOCH"))
    if (const auto seconds = core::parse_i64(*text); seconds && *seconds >= 0 && *seconds < 1'000'000'000'000 / 100)
      return core::iso8601_utc(*seconds * kNanoseconds);
  return core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime));
}

core::Status write_to(const std::string& folder, CalibrateOutcome& outcome) {
  if (!core::is_directory(folder)) return core::fail(ErrorCode::not_found, "--output: " + folder + " is not a directory");
  outcome.path = core::join_path(folder, core::base_name(user_calibration_path({}, outcome.calibration.device)));
  return core::write_file_atomic(outcome.path, to_bytes(outcome.calibration));
}

}  // namespace

core::Result<CalibrateOutcome> calibrate(const CalibrateRequest& request, const Services& services) {
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  AACO_ASSIGN(const hardware::Device device, find_device(request.hardware, services));
  const estimation::DeviceFacts facts = estimation::facts_of(device);
  if (!request.measurements.empty() && !request.backend.empty())
    return core::fail(ErrorCode::invalid_argument,
                      "--measurements and --backend are mutually exclusive: --backend selects results of 'aaco benchmark'",
                      "remove --measurements or --backend");
  std::vector<std::string> paths = request.measurements;
  if (paths.empty()) {
    AACO_ASSIGN(paths, own_tables(services.paths, facts.id, request.backend));
  }
  services.progress("reading measurements");
  AACO_ASSIGN(const MeasurementFiles files, read_measurements(paths, registry));
  const auto own = files.devices.find(facts.id);
  if (own == files.devices.end() || (own->second.kernels.empty() && own->second.models.empty()))
    return core::fail(ErrorCode::invalid_input, "the tables contain no measurements for " + facts.id, devices_text(files));
  CalibrateOutcome outcome;
  outcome.rows = files.rows;
  for (const auto& [id, rows] : files.devices)
    if (id != facts.id) outcome.other_devices += static_cast<std::int64_t>(rows.kernels.size() + rows.models.size());
  for (std::string& note : files.notes()) outcome.notes.push_back(std::move(note));
  services.progress("fitting");
  estimation::FitSettings settings;
  settings.seed = request.seed;
  settings.threads = request.threads;
  settings.compact = request.compact;
  estimation::FittedResiduals residuals;
  outcome.calibration.device = facts.id;
  if (!own->second.kernels.empty()) {
    const estimation::ImpossibleRows beyond = impossible_rows(own->second.kernels, facts);
    outcome.rejected = beyond.count;
    if (beyond.count > 0) outcome.notes.push_back(describe(beyond, own->second.kernels));
    for (const auto& [name, count] : slow_classes(own->second.kernels, facts))
      outcome.notes.push_back("all " + rows_text(count) + " of " + name +
                              " take more than 50 times the roofline bound: are the times in microseconds?");
    if (auto outdated = outdated_probe(own->second.kernels, facts)) outcome.notes.push_back(std::move(*outdated));
    const estimation::RowsWithoutPeak unrated = rows_without_peak(own->second.kernels, facts);
    outcome.without_peak = unrated.count;
    if (unrated.count > 0) outcome.notes.push_back(describe(unrated, own->second.kernels, facts.id));
    AACO_ASSIGN(outcome.calibration, estimation::calibrate(own->second.kernels, facts, settings, residuals));
    if (auto unused = unused_powers(own->second.kernels, outcome.calibration)) outcome.notes.push_back(std::move(*unused));
  }
  AACO_TRY(fit_whole_models(files, device, registry, services, outcome.calibration, outcome.notes));
  if (outcome.calibration.latency.empty() && outcome.calibration.models.empty())
    return core::fail(ErrorCode::invalid_input, "the tables contain no data for " + facts.id + " that can be fitted",
                      outcome.notes.empty() ? "" : outcome.notes.back());
  outcome.calibration.provenance = {services.tool_version, creation_time(services.environment), files.files, files.sources,
                                    request.licences};
  AACO_TRY(widen_for_others(request, registry, facts, outcome));
  outcome.worst = worst_sites(own->second.kernels, residuals, outcome.calibration);
  outcome.measure_next = advice(outcome);
  if (!request.output.empty()) {
    AACO_TRY(write_to(request.output, outcome));
    return outcome;
  }
  AACO_TRY(save_calibration(services.paths, outcome.calibration));
  outcome.path = user_calibration_path(services.paths, facts.id);
  return outcome;
}

core::Json to_json(const CalibrateOutcome& outcome) {
  core::Json document = core::Json::object({{"schema_version", 1},
                                            {"device", outcome.calibration.device},
                                            {"path", outcome.path},
                                            {"rows", outcome.rows},
                                            {"rows_of_other_devices", outcome.other_devices},
                                            {"rejected", outcome.rejected},
                                            {"without_peak", outcome.without_peak}});
  const core::Json calibration = estimation::to_json(outcome.calibration);
  const auto figures = [](const core::Json& model) {
    core::Json kept = core::Json::object();
    for (const auto& [name, value] : model.members())
      if (name != "bounds" && name != "operators") kept.set(name, value);
    return kept;
  };
  core::Json classes = core::Json::array(), energy = core::Json::object(), worst = core::Json::array();
  for (const core::Json& model : calibration["latency"].items()) classes.push(figures(model));
  for (const auto& [name, model] : calibration["energy"].members()) energy.set(name, figures(model));
  for (const BadSite& site : outcome.worst)
    worst.push(
        core::Json::object({{"class", site.group}, {"site", site.site}, {"rows", site.rows}, {"mean_ape", site.mean_error}}));
  document.set("latency", std::move(classes)).set("energy", std::move(energy)).set("worst_sites", std::move(worst));
  for (const char* name : {"models", "memory"})
    if (calibration.contains(name)) document.set(name, calibration[name]);
  core::Json next = core::Json::array(), notes = core::Json::array();
  for (const std::string& text : outcome.measure_next) next.push(text);
  for (const std::string& text : outcome.notes) notes.push(text);
  return document.set("measure_next", std::move(next)).set("notes", std::move(notes));
}

}  // namespace aaco::workflows
