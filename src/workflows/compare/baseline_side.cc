#include "workflows/baseline_side.h"

#include <memory>
#include <utility>

#include "core/clock.h"
#include "core/files.h"
#include "workflows/compare/side_facts.h"

namespace aaco::workflows {

using governance::Baseline;

core::Result<Baseline> load_baseline(const std::string& path) {
  AACO_ASSIGN(const std::string text, core::read_file(path, std::int64_t{64} << 20));
  return governance::parse_baseline(text, path);
}

bool is_baseline_file(const std::string& name) {
  return (name.ends_with(".yaml") || name.ends_with(".yml")) && core::exists(name) && !core::is_directory(name);
}

ComparedSide side_of(Baseline baseline) {
  ComparedSide side;
  side.name = baseline.name;
  std::vector<hardware::Fact> facts;
  for (const auto& [key, value] : baseline.fingerprint) facts.push_back({key, value});
  auto fingerprint = hardware::make_fingerprint(std::move(facts));
  std::string model;
  if (const auto request = core::Json::parse(baseline.request)) {
    add_request_facts(*request, fingerprint);
    model = std::string((*request)["model"].text());
    constexpr std::string_view kOnnx = ".onnx";
    if (model.ends_with(kOnnx)) model = core::base_name(std::string_view(model).substr(0, model.size() - kOnnx.size()));
  }
  for (const auto& kept : baseline.sessions) {
    ComparedSession session;
    session.id = kept.id;
    session.kind = kept.kind;
    session.tag = kept.tag;
    session.scope = kept.scope;
    session.model = model;
    session.fingerprint = fingerprint;
    session.fingerprint_hash = kept.fingerprint_hash;
    session.iterations = kept.iterations_ns;
    session.items_per_iteration = kept.items_per_iteration;
    session.metrics = kept.metrics;
    session.series = kept.series;
    side.sessions.push_back(std::move(session));
  }
  side.baseline = std::make_shared<const Baseline>(std::move(baseline));
  return side;
}

std::vector<hardware::Difference> baseline_differences(const Baseline& baseline, std::int64_t now_realtime_ns) {
  std::vector<hardware::Difference> found;
  if (governance::expired(baseline, now_realtime_ns))
    found.push_back({"baseline.expired", core::iso8601_utc(*baseline.expires_realtime_ns), core::iso8601_utc(now_realtime_ns),
                     hardware::Severity::hard, "the baseline has expired"});
  switch (approval_state(baseline)) {
    case governance::Approved::yes: break;
    case governance::Approved::no:
      found.push_back({std::string(kApproval), "none", "", hardware::Severity::soft, "the baseline is not approved"});
      break;
    case governance::Approved::changed_since:
      found.push_back({std::string(kApproval), baseline.approval->by, "", hardware::Severity::soft,
                       "the baseline changed after it was approved"});
      break;
  }
  return found;
}

}  // namespace aaco::workflows
