#include "workflows/llm_side.h"

#include "serving/target.h"
#include "workflows/llm_model.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

core::Result<LlmSide> load_from_json(const Json& document) {
  LlmRequest request;
  request.url = std::string(document["url"].text());
  for (const char* file : {"replay", "prompts"})
    if (!document[file].text().empty())
      return core::fail(
          ErrorCode::invalid_input,
          "the load cannot be repeated: the session has only the name of the file '" + std::string(document[file].text()) + "'",
          "pass the options of 'aaco llm' after '--'");
  if (request.url.find(serving::kRemovedSecret) != std::string::npos)
    return core::fail(ErrorCode::invalid_input, "the load cannot be repeated: the key in the query of its URL is not stored",
                      "pass the options of 'aaco llm' after '--'");
  if (!document["headers"].items().empty())
    return core::fail(ErrorCode::invalid_input, "the load cannot be repeated: the values of its headers are not stored",
                      "pass the options of 'aaco llm' after '--'");
  request.model = std::string(document["model"].text());
  if (document["api"].is_string()) request.api = std::string(document["api"].text());
  for (const Json& one : document["concurrency"].items()) request.concurrency.push_back(one.as_i64().value_or(1));
  for (const Json& one : document["rates"].items()) request.rates.push_back(one.as_f64().value_or(1));
  if (document["arrivals"].is_string()) request.arrivals = std::string(document["arrivals"].text());
  request.ramp_ns = document["ramp_ns"].as_i64();
  request.max_open = document["max_open"].as_i64();
  request.requests = document["requests"].as_i64();
  request.duration_ns = document["duration_ns"].as_i64();
  request.warmup = document["warmup"].as_i64();
  request.cancel_after_ns = document["cancel_after_ns"].as_i64();
  if (document["prompt_tokens"].is_string()) request.prompt_tokens = std::string(document["prompt_tokens"].text());
  if (document["output_tokens"].is_string()) request.output_tokens = std::string(document["output_tokens"].text());
  request.shared_prefix_tokens = document["shared_prefix_tokens"].as_i64().value_or(0);
  request.turns = document["turns"].as_i64().value_or(1);
  request.ignore_eos = document["ignore_eos"].as_bool().value_or(true);
  request.continuous_usage = document["continuous_usage"].as_bool().value_or(false);
  request.slo = std::string(document["slo"].text());
  request.price_per_hour = document["price_per_hour"].as_f64();
  if (const auto seed = document["seed"].as_u64()) request.seed = *seed;
  if (const auto timeout = document["timeout_ns"].as_i64()) request.timeout_ns = *timeout;
  request.retries = document["retries"].as_i64().value_or(0);
  request.telemetry = document["telemetry"].as_bool().value_or(true);
  request.ebpf = document["ebpf"].as_bool().value_or(false);
  return LlmSide(std::move(request));
}

}  // namespace

core::Result<SessionOutcome> measure_llm(const LlmSide& side, const Services& services) {
  if (const auto* model = std::get_if<LlmModelRequest>(&side)) return llm_model(*model, services);
  AACO_ASSIGN(LlmOutcome outcome, llm(std::get<LlmRequest>(side), services));
  if (outcome.all_failed || outcome.all_cancelled) return core::fail(ErrorCode::io, "no request succeeded: " + outcome.failure);
  return std::move(outcome.session);
}

core::Result<std::vector<hardware::Fact>> facts_of(const LlmSide& side, const Services& services) {
  if (const auto* model = std::get_if<LlmModelRequest>(&side)) return llm_model_facts(*model);
  return llm_facts(std::get<LlmRequest>(side), services);
}

bool is_llm_request(const Json& document) {
  return !document["url"].text().empty() || document["output_tokens"].as_i64().has_value();
}

core::Result<LlmSide> llm_side_from_json(const Json& document, const RunRequest& run) {
  if (!document["url"].text().empty()) return load_from_json(document);
  LlmModelRequest request;
  request.run = run;
  request.prompt_tokens = document["prompt_tokens"].as_i64().value_or(request.prompt_tokens);
  request.output_tokens = document["output_tokens"].as_i64().value_or(request.output_tokens);
  request.batches = {document["main_batch"].as_i64().value_or(1)};
  request.contexts.emplace();  // only the level that is compared
  request.requests = document["requests"].as_i64();
  request.duration_ns = document["duration_ns"].as_i64();
  request.warmup = document["warmup"].as_i64();
  return LlmSide(std::move(request));
}

std::string& tag_of(LlmSide& side) {
  if (auto* model = std::get_if<LlmModelRequest>(&side)) return model->run.tag;
  return std::get<LlmRequest>(side).tag;
}

bool has_no_length(const LlmSide& side) {
  return std::visit([](const auto& request) { return !request.requests && !request.duration_ns; }, side);
}

void set_duration(LlmSide& side, std::int64_t duration_ns) {
  std::visit([&](auto& request) { request.duration_ns = duration_ns; }, side);
}

}  // namespace aaco::workflows
