#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/latency.h"
#include "estimation/validation.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What is held out as a whole where the fit is made here. none: nothing is fitted, the calibrations at hand are tried.
enum class Split { none, site, model, device };

struct ValidateRequest {
  std::string hardware;
  std::vector<std::string> measurements;   // files
  std::optional<estimation::Level> level;  // the best that may be used; empty: what the split is about, else calibrated
  Split split = Split::none;
  std::optional<int> folds;  // empty: 5 of sites; of models, each is held out by itself
  std::uint64_t seed = 1;
  std::vector<std::string> calibration_from;  // devices that may lend; empty: all
  std::string residuals;                      // a CSV file to write; empty: none
  bool compact = false;                       // what a split fits is in the form that is shipped
};

// One way to estimate, judged: over all and by class.
struct Judgement {
  estimation::Scores all;
  std::map<std::string, estimation::Scores> classes;
};

struct ValidateOutcome {
  std::string device;
  estimation::Level level = estimation::Level::calibrated;
  Judgement latency;
  std::int64_t rejected = 0;                   // kernels left out as impossible_rows()
  std::optional<Judgement> with_rejected;      // the latency of all rows, where some were rejected
  std::optional<Judgement> memory;             // peaks of whole models
  std::optional<Judgement> energy;             // of measurements with a power, their time given
  std::optional<Judgement> predicted_energy;   // the same, their time predicted
  std::map<std::string, Judgement> baselines;  // by name, of latency
  std::map<std::string, std::int64_t> levels;  // how many estimates were of which level
  std::map<std::string, Judgement> by_level;   // the latency of each, where there are several
  std::vector<std::string> notes;
};

// Estimates of kernels (or whole models, whatever the files hold) of the device beside their measured times. Registries stay as
// they are.
core::Result<ValidateOutcome> validate(const ValidateRequest& request, const Services& services);

core::Json to_json(const ValidateOutcome& outcome);

}  // namespace aaco::workflows
