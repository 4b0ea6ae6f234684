#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collectors/cpu_energy.h"
#include "core/result.h"
#include "workflows/optimize/model_variants.h"
#include "workflows/optimize/output_check.h"
#include "workflows/optimize/space.h"
#include "workflows/optimize/trial.h"
#include "workflows/optimize/trial_process.h"

namespace aaco::workflows {

// Measures configurations against the baseline: both loaded in a process of their own, in short alternating blocks, so that
// external load falls on both.
class TrialBench {
 public:
  // Loads the baseline, and records its outputs below `folder`.
  static core::Result<TrialBench> open(const OptimizeRequest& request, const Space& space, const std::string& model_path,
                                       const Services& services);

  // One round in a fresh process of the configuration. What goes wrong with the configuration is the trial's outcome, not an
  // error. `deadline_ns`: of the monotonic clock; a trial that is not ready by then has timed out.
  core::Status measure(Trial& trial, std::int64_t deadline_ns);
  // Whether the configuration computes with fewer bits.
  [[nodiscard]] bool changes_precision(const Trial& trial) const;
  // Compares the outputs with the baseline's.
  core::Status check_outputs(Trial& trial, std::int64_t deadline_ns);
  // A new process for the baseline, so that what a process has by chance does not stay.
  core::Status renew_baseline();

  [[nodiscard]] const TrialProcess& baseline() const { return *baseline_; }
  // The configuration as it runs: with its rewrites made.
  core::Result<RunRequest> resolve(const RunRequest& configuration) { return variants_.resolve(configuration); }
  // What comparing the outputs of a configuration takes, about.
  [[nodiscard]] std::int64_t check_ns() const { return check_ns_; }
  // What starting a process and its warm-up takes, about.
  [[nodiscard]] std::int64_t start_ns() const;
  [[nodiscard]] std::int64_t warmup() const { return warmup_; }  // calls before those that count

 private:
  TrialBench(const OptimizeRequest& request, const Space& space, const std::string& model_path, const Services& services)
      : request_(&request),
        space_(&space),
        services_(&services),
        variants_(model_path, request.folder, request.worker, services) {}
  core::Result<TrialProcess> start(const RunRequest& configuration, std::int64_t deadline_ns);
  core::Status measure_memory();
  [[nodiscard]] std::int64_t patience_ns() const;
  core::Status run_pairs(Trial& trial, TrialProcess& candidate, std::int64_t deadline_ns);

  const OptimizeRequest* request_;
  const Space* space_;
  const Services* services_;
  std::unique_ptr<TrialProcess> baseline_;
  std::unique_ptr<collectors::CpuEnergy> meter_;  // for energy as the objective
  std::optional<OutputCheck> outputs_;
  ModelVariants variants_;
  std::int64_t warmup_ = 5;
  std::int64_t check_ns_ = 0, recent_start_ns_ = 0;
  std::int64_t rss_bytes_ = 0;  // of a baseline process after a trial's calls; for memory as the objective
  std::int64_t life_ = 0;       // trials of this baseline process
};

}  // namespace aaco::workflows
