#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "report/live.h"
#include "workflows/live.h"

namespace aaco::server {

// This machine and the running sessions, for /metrics. For any thread.
class Telemetry {
 public:
  explicit Telemetry(const std::string& sessions) : sessions_(sessions) {}
  struct Reading {
    report::LiveMachine machine;
    std::vector<report::LiveSession> sessions;
  };
  // The same with the processes of the sessions, as `aaco top --once --json` prints it.
  report::LiveView view();
  // Samples at most every kMinPeriod_ns; values that need two samples are empty in the first.
  Reading read();

  static constexpr std::int64_t kMinPeriod_ns = 500'000'000;

 private:
  std::mutex mutex_;
  std::optional<workflows::MachineWatch> machine_;
  workflows::LiveSessions sessions_;
  std::int64_t read_ns_ = 0;
  Reading last_;
  workflows::ProcessWatch processes_;
};

// In the text format 0.0.4 of Prometheus.
std::string telemetry_text(const Telemetry::Reading& reading);

}  // namespace aaco::server
