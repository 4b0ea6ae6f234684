#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/envelope.h"
#include "core/json.h"
#include "core/result.h"
#include "report/model.h"
#include "trace/account.h"
#include "workflows/device_roofs.h"
#include "workflows/services.h"
#include "workflows/session_choice.h"

namespace aaco::workflows {

struct EnvelopeRequest {
  std::vector<std::string> sessions;  // empty: all of the lake
  SessionWhere where;                 // with all of the lake
  std::string device;                 // id, alias or "this"; empty: all that the sessions ran on
  std::optional<std::size_t> last;    // only this many of the newest
  analytics::roofline::EnvelopeOptions options;
};

// One roof in its three forms; what is not known is empty.
struct EnvelopeRoof {
  report::Roof::Kind kind = report::Roof::Kind::compute;
  std::string name;                         // data type, "main memory", "cached"
  std::optional<double> stated;             // by the hardware registry
  std::optional<MeasuredCeiling> measured;  // by the device's calibration
  analytics::roofline::ReachedRoof reached;
};

struct DeviceEnvelope {
  std::string id, name;
  std::int64_t threads = 0;  // of runs on a part of a CPU's cores; 0: all
  std::vector<std::string> sessions;
  std::size_t workloads = 0;         // different ones
  std::size_t counted = 0, all = 0;  // points whose work is from counters; points
  double above_ratio = 0;            // of the runs' time lies above the envelope
  std::string calibration;           // as DeviceRoofs
  std::vector<std::string> notes;
  std::vector<EnvelopeRoof> roofs;
  struct Hull {
    std::string type;
    std::vector<analytics::roofline::HullCorner> corners;
  };
  std::vector<Hull> hulls;
  std::vector<report::RoofPoint> points;   // those that take most time
  std::vector<report::Roof> stated_roofs;  // and measured ones, of every level of the memory, for drawing

  [[nodiscard]] bool fitted() const;
};

struct EnvelopeOutcome {
  std::vector<DeviceEnvelope> devices;  // those with most points first
  trace::Account account;
  [[nodiscard]] bool fitted() const;
};

// The roofs that stored runs reached, by device (analytics/envelope.h has the definition), beside those that its entry states and
// its calibration measured. Fails with not_found where no session has work of known size.
core::Result<EnvelopeOutcome> fit_envelopes(const EnvelopeRequest& request, const Services& services);

// All roofs and the largest points, for the renderers of reports.
report::ReportModel envelope_report(const DeviceEnvelope& device, const EnvelopeRequest& request);

}  // namespace aaco::workflows
