#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct CalibrateRequest {
  std::string hardware;
  std::vector<std::string> measurements;  // files; none: the results of `aaco benchmark`
  std::string backend;                    // whose results; empty: the one that has any
  std::uint64_t seed = 1;
  int threads = 2;
  bool compact = false;                  // rounded trees, fewer of them: the form that is shipped
  std::vector<std::string> elsewhere;    // tables of the same device by other laboratories: widen the bounds, are not learnt from
  std::optional<double> elsewhere_term;  // instead of such tables: half a 90 % interval of the logarithm
  std::vector<std::string> licences;     // of the measurements, one line each
  std::string output;                    // folder to write to; empty: the user's registry
};

// A site that the members of the fit that had not seen it estimated badly.
struct BadSite {
  std::string group, site;  // class of the operator
  std::int64_t rows = 0;
  double mean_error = 0;  // of |estimate / measured - 1|
};

struct CalibrateOutcome {
  estimation::DeviceCalibration calibration;
  std::string path;                         // where it was written
  std::map<std::string, double> elsewhere;  // the term that was added, by kind and type
  std::int64_t rows = 0;                    // of the files
  std::int64_t other_devices = 0;           // rows that are not of this device
  std::int64_t rejected = 0;                // kernels of this device that are impossible_rows()
  std::int64_t without_peak = 0;            // kernels of this device that are rows_without_peak()
  std::vector<BadSite> worst;               // first the worst
  std::vector<std::string> measure_next;
  std::vector<std::string> notes;
};

// Fits a device's calibration to measurements and writes it to the user's registry, where it replaces what was there. On any
// error the registry stays as it was.
core::Result<CalibrateOutcome> calibrate(const CalibrateRequest& request, const Services& services);

core::Json to_json(const CalibrateOutcome& outcome);

}  // namespace aaco::workflows
