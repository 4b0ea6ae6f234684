#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/worker_process.h"
#include "runner/loop.h"
#include "workflows/optimize_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A configuration loaded in a worker process of its own. The process ends with this; a crash or a hang is an error of the call.
class TrialProcess {
 public:
  // Loads the configuration and makes `warmup` calls; at most `timeout_ns`.
  static core::Result<TrialProcess> start(const std::vector<std::string>& worker, const RunRequest& configuration,
                                          std::int64_t warmup, const Services& services, std::int64_t timeout_ns);
  core::Result<std::vector<runner::TimedCall>> run(std::int64_t calls, std::int64_t timeout_ns);
  core::Status write_outputs(std::uint64_t seed, const std::string& file, std::int64_t timeout_ns);

  [[nodiscard]] const core::Json& described() const { return described_; }
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }  // from start to ready, warm-up included
  [[nodiscard]] std::int64_t load_ns() const { return described_["load_ns"].as_i64().value_or(0); }
  [[nodiscard]] std::int64_t batch() const { return described_["batch"].as_i64().value_or(1); }
  [[nodiscard]] std::int64_t rss_peak_bytes() const { return rss_peak_bytes_; }
  [[nodiscard]] double warm_median_ns() const { return warm_median_ns_; }

 private:
  explicit TrialProcess(core::WorkerProcess process) : process_(std::move(process)) {}
  core::WorkerProcess process_;
  core::Json described_;
  std::int64_t start_ns_ = 0, rss_peak_bytes_ = 0;
  double warm_median_ns_ = 0;
};

}  // namespace aaco::workflows
