#pragma once

#include <optional>
#include <string>
#include <vector>

#include "governance/gate_report.h"
#include "workflows/diff.h"
#include "workflows/llm_side.h"
#include "workflows/run.h"

namespace aaco::workflows {

struct GateRequest {
  std::string baseline;               // a name, or a file
  std::vector<std::string> sessions;  // what is judged; empty: measured now
  std::optional<RunRequest> run;      // how it is measured; empty: as the baseline's own sessions were
  std::optional<LlmSide> llm;         // the same for sessions of `aaco llm`
  InjectedDelay delay;                // added to each measured call, to see what the gate detects
  int retries = 0;                    // further measurements while it is not decided
  double level = 0.95;                // over all attempts together
  bool force = false;
  bool require_approval = false;
  bool use_history = true;
};

struct GateOutcome {
  DiffOutcome verdict;
  DiffRequest asked;                  // with the baseline's policy
  int attempts = 0;                   // comparisons
  std::vector<std::string> measured;  // sessions this gate made
};

// Judges sessions by a baseline. While the answer is inconclusive and retries are left another session is measured and joins the
// others; the level is divided over the attempts, so that retrying makes no false alarm likelier. An expired baseline (and one
// that is not approved, where approval is required) is not-comparable.
core::Result<GateOutcome> gate(const GateRequest& request, const Services& services);

governance::GateReport gate_report(const GateOutcome& outcome);
core::Json to_json(const GateOutcome& outcome);

// How the runs of a baseline were measured; empty: they are no runs, or the baseline does not record it.
core::Result<std::optional<RunRequest>> run_of_baseline(const std::string& name, const Services& services);

// What was asked of a run, from the request in its session.json.
core::Result<RunRequest> run_request_from_json(const core::Json& document);

}  // namespace aaco::workflows
