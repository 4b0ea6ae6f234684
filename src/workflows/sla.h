#pragma once

#include <string>
#include <vector>

#include "governance/sla.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct SlaRequest {
  std::string rules;                  // sla.yaml
  std::vector<std::string> sessions;  // ids, paths, latest; tag:NAME is the newest of it
  bool alert = true;                  // tell whom the rules name
};

struct SlaFinding {
  std::string session;
  governance::SlaRule rule;
  governance::RuleOutcome outcome;
};

struct AlertReport {
  std::string receiver;  // "file a.jsonl"
  bool delivered = false;
  std::string problem;
};

struct SlaOutcome {
  std::vector<SlaFinding> findings;
  std::vector<AlertReport> alerts;
  [[nodiscard]] bool any(governance::RuleState state) const;
};

// Holds sessions against service levels, and tells the receivers of the rules what is broken. What could not be delivered is in
// the outcome and changes no finding. A rule that is meant for none of the sessions is a finding of its own.
core::Result<SlaOutcome> check_sla(const SlaRequest& request, const Services& services);

core::Json to_json(const SlaOutcome& outcome);

}  // namespace aaco::workflows
