#include "trace/outcome.h"

#include <utility>

namespace aaco::trace {
namespace {

using core::Json;

// One list of the members for writing and reading: visit(key, member) for each, in the document's order.
template <class AnyOutcome, class Visit>
void each_member(AnyOutcome& outcome, Visit&& visit) {
  visit("model", outcome.model);
  visit("backend", outcome.backend);
  visit("provider", outcome.provider);
  visit("batch", outcome.batch);
  visit("threads", outcome.threads);
  visit("graph_level", outcome.graph_level);
  visit("inputs", outcome.inputs);
  visit("warmup_iterations", outcome.warmup_iterations);
  visit("warmup_ended", outcome.warmup_ended);
  visit("warmup_stationary", outcome.warmup_stationary);
  visit("iterations", outcome.iterations);
  visit("measuring_ended", outcome.measuring_ended);
  visit("process_id", outcome.process_id);
  visit("exit_code", outcome.exit_code);
  visit("wall_ns", outcome.wall_ns);
  visit("rows", outcome.rows);
  visit("passed_over", outcome.passed_over);
  visit("totals", outcome.totals);
  visit("files", outcome.files);
  visit("gpu", outcome.gpu);
  visit("points", outcome.points);
  visit("llm", outcome.llm);
  visit("ab_side", outcome.ab_side);
  visit("ab_together", outcome.ab_together);
  visit("ab_process_iterations", outcome.ab_process_iterations);
  visit("noise", outcome.noise);
  visit("isolation", outcome.isolation);
  visit("work", outcome.work);
  visit("gpu_profile", outcome.gpu_profile);
  visit("sensors", outcome.sensors);
  visit("p50_ns", outcome.p50_ns);
}

template <class AnyWork, class Visit>
void each_member_of_work(AnyWork& work, Visit&& visit) {
  visit("flops", work.flops);
  visit("bytes", work.bytes);
  visit("node_count", work.node_count);
}

Json value_of(const Json& value) { return value; }
Json value_of(const std::string& value) { return value.empty() ? Json() : Json(value); }
Json value_of(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }
Json value_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json value_of(const std::optional<bool>& value) { return value ? Json(*value) : Json(); }

void add_rest(Json& out, const Json& rest) {
  for (const auto& [key, value] : rest.members()) out.set(key, value);
}

Json value_of(const std::optional<OutcomeWork>& work) {
  if (!work) return {};
  Json out = Json::object();
  each_member_of_work(*work, [&](std::string_view key, const auto& member) { out.set_if(key, value_of(member)); });
  add_rest(out, work->rest);
  return out;
}

// Reading: each answers whether the value is of the member's type.
bool take(const Json& value, Json& member) {
  member = value;
  return true;
}
bool take(const Json& value, std::string& member) {
  if (!value.is_string()) return false;
  member = std::string(value.text());
  return true;
}
bool take(const Json& value, std::optional<std::int64_t>& member) { return (member = value.as_i64()).has_value(); }
bool take(const Json& value, std::optional<double>& member) { return (member = value.as_f64()).has_value(); }
bool take(const Json& value, std::optional<bool>& member) { return (member = value.as_bool()).has_value(); }

bool take(const Json& value, std::optional<OutcomeWork>& member);

// The members of `document` that `each` does not visit, or whose type is another.
template <class Each>
Json rest_of(const Json& document, Each&& each) {
  Json rest;
  for (const auto& [key, value] : document.members()) {
    bool taken = false;
    each([&, &key = key, &value = value](std::string_view name, auto& member) {
      taken = taken || (name == key && take(value, member));
    });
    if (taken || value.is_null()) continue;
    if (rest.is_null()) rest = Json::object();
    rest.set(key, value);
  }
  return rest;
}

bool take(const Json& value, std::optional<OutcomeWork>& member) {
  if (!value.is_object()) return false;
  OutcomeWork work;
  work.rest = rest_of(value, [&](auto&& visit) { each_member_of_work(work, visit); });
  member = std::move(work);
  return true;
}

}  // namespace

std::string Outcome::text(std::string_view key) const {
  return key == "model" ? model : key == "backend" ? backend : key == "provider" ? provider : std::string();
}

Json to_json(const Outcome& outcome) {
  Json out = Json::object();
  each_member(outcome, [&](std::string_view key, const auto& member) { out.set_if(key, value_of(member)); });
  add_rest(out, outcome.rest);
  return out;
}

Outcome outcome_from_json(const Json& document) {
  Outcome outcome;
  outcome.rest = rest_of(document, [&](auto&& visit) { each_member(outcome, visit); });
  return outcome;
}

}  // namespace aaco::trace
