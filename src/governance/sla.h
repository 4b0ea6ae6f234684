#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/metric.h"

namespace aaco::governance {

// A limit on one metric: at most `max`, at least `min`.
struct SlaRule {
  std::string name, metric;
  std::optional<double> max, min;            // in the metric's unit
  std::string severity = "major";            // minor, major, critical
  std::map<std::string, std::string> where;  // only sessions with these: model, backend, kind, tag
  bool operator==(const SlaRule&) const = default;
};

// Receiver of an alert about a broken rule.
struct SlaAlert {
  enum class Kind : std::uint8_t { file, command, webhook } kind = Kind::file;
  std::string target;                // a file or a URL
  std::vector<std::string> command;  // gets the alert on standard input
  std::int64_t timeout_ns = 5'000'000'000;
  bool undecided_too = false;
  bool operator==(const SlaAlert&) const = default;
};

struct SlaBook {
  std::vector<SlaRule> rules;
  std::vector<SlaAlert> alerts;
  bool operator==(const SlaBook&) const = default;
};

// Reads sla.yaml (docs/formats/sla.md). `metric_id` completes short names ("p99"). A limit is a number in the metric's unit,
// or has its unit ("20ms", "4GiB", "5%"). Refuses, with file and line: another schema version, unknown keys, a rule without
// a limit or with a minimum above its maximum, a duplicate name, and an alert without a receiver.
core::Result<SlaBook> parse_sla(std::string_view text, const std::string& file,
                                const std::function<std::string(const std::string&)>& metric_id);

enum class RuleState : std::uint8_t { kept, broken, undecided, not_measured, not_meant };
std::string_view to_string(RuleState state);

struct RuleOutcome {
  RuleState state = RuleState::not_measured;
  std::optional<double> value;
  std::optional<trace::Interval> interval;
  std::optional<double> limit;  // the broken limit, or the nearest one
  std::string unit;
  std::string explanation;  // one sentence
};

// A rule is kept or broken only if the whole CI of the value is on one side of the limit; a value without a CI
// decides by itself. `facts` are matched against `where`.
RuleOutcome check_rule(const SlaRule& rule, const trace::Metrics& metrics, const std::map<std::string, std::string>& facts);

}  // namespace aaco::governance
