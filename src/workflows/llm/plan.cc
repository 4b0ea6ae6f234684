#include "workflows/llm/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "serving/secrets.h"
#include "workflows/llm/request_journal.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kDefaultRequestsPerOpen = 10;  // requests of a closed loop without a number or a duration, per open one
constexpr std::int64_t kDefaultDurationNs = 60'000'000'000;
constexpr std::int64_t kMaxDefaultWarmup = 16;

core::Status add_credentials(serving::Target& target, const LlmRequest& request, const Services& services) {
  std::string key = services.environment.get("AACO_API_KEY").value_or("");
  if (!request.api_key_file.empty()) {
    AACO_ASSIGN(const std::string text, core::read_file(request.api_key_file, 64 << 10));
    key = text.substr(0, text.size() - (text.ends_with("\r\n") ? 2 : text.ends_with('\n') ? 1 : 0));
    if (key.empty()) return core::fail(ErrorCode::invalid_input, "the API key file '" + request.api_key_file + "' is empty");
  }
  const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!visible)
    return core::fail(ErrorCode::invalid_input,
                      "the API key contains white space, a control character or a character beyond ASCII",
                      "the key file may contain only the key and one newline");
  if (!key.empty()) target.headers.emplace_back("Authorization", "Bearer " + key);
  for (const std::string& text : request.headers) {
    AACO_ASSIGN(auto header, serving::parse_header(text));
    target.headers.push_back(std::move(header));
  }
  return {};
}

core::Status check_load(const LlmRequest& request) {
  const int kinds = (request.concurrency.empty() ? 0 : 1) + (request.rates.empty() ? 0 : 1) + (request.replay.empty() ? 0 : 1);
  if (kinds > 1)
    return core::fail(ErrorCode::invalid_argument, "--concurrency, --rate and --replay are mutually exclusive",
                      "a load is closed (concurrency), open (rate) or a trace (replay)");
  if (request.max_open && request.rates.empty() && request.replay.empty())
    return core::fail(ErrorCode::invalid_argument, "--max-open requires --rate or --replay",
                      "in a closed loop --concurrency is the cap");
  if (request.requests && request.duration_ns)
    return core::fail(ErrorCode::invalid_argument, "--requests and --duration are mutually exclusive");
  if (request.replay_speed && request.replay.empty())
    return core::fail(ErrorCode::invalid_argument, "--replay-speed requires --replay");
  if (request.ramp_ns && request.rates.empty()) return core::fail(ErrorCode::invalid_argument, "--ramp requires --rate");
  if (request.turns > 1 && (request.api == "completions" || !request.replay.empty()))
    return core::fail(ErrorCode::invalid_argument, "--turns requires the chat API and no --replay",
                      "remove --api completions, or --replay: a trace has its own requests");
  if (!request.replay.empty() && !request.prompts.empty())
    return core::fail(ErrorCode::invalid_argument, "--prompts and --replay are mutually exclusive");
  return {};
}

LlmLevel closed_level(std::int64_t concurrency, const LlmRequest& request) {
  LlmLevel level{.name = fmt::format("concurrency {}", concurrency),
                 .concurrency = concurrency,
                 .offsets_ns = {},
                 .requests = request.requests,
                 .duration_ns = request.duration_ns};
  if (!level.requests && !level.duration_ns) level.requests = std::max<std::int64_t>(100, kDefaultRequestsPerOpen * concurrency);
  return level;
}

core::Result<LlmLevel> open_level(double rate, const LlmRequest& request, const serving::Arrivals& arrivals) {
  LlmLevel level{.name = fmt::format("rate {}/s", rate), .concurrency = {}, .offsets_ns = {}, .requests = {}, .duration_ns = {}};
  const auto duration = request.requests || request.duration_ns ? request.duration_ns : std::optional(kDefaultDurationNs);
  AACO_ASSIGN(level.offsets_ns,
              serving::arrival_offsets(arrivals, {.to_hz = rate, .from_hz = 0, .ramp_ns = request.ramp_ns.value_or(0)},
                                       request.requests, duration, request.seed));
  if (level.offsets_ns.empty())
    return core::fail(ErrorCode::invalid_argument, fmt::format("no request is due within the duration at {} requests/s", rate),
                      "use a longer --duration or --requests");
  return level;
}

core::Result<LlmLevel> replay_level(LlmPlan& plan, const LlmRequest& request) {
  AACO_ASSIGN(plan.prompts, serving::read_replay(request.replay, request.seed));
  plan.replayed = true;
  LlmLevel level{.name = "replay", .concurrency = {}, .offsets_ns = {}, .requests = {}, .duration_ns = {}};
  for (const serving::Prompt& prompt : plan.prompts) {
    const auto offset = static_cast<std::int64_t>(static_cast<double>(*prompt.offset_ns) / request.replay_speed.value_or(1));
    if (request.duration_ns && offset >= *request.duration_ns) break;
    if (request.requests && static_cast<std::int64_t>(level.offsets_ns.size()) >= *request.requests) break;
    level.offsets_ns.push_back(offset);
  }
  return level;
}

}  // namespace

core::Result<LlmPlan> plan_llm(const LlmRequest& request, const Services& services) {
  LlmPlan plan;
  AACO_TRY(check_load(request));
  AACO_ASSIGN(plan.target, serving::parse_target(request.url, services.environment));
  AACO_TRY(add_credentials(plan.target, request, services));
  plan.target.ca_file = request.ca_file;
  plan.body = {.api = request.api == "completions" ? serving::Api::completions : serving::Api::chat,
               .model = request.model,
               .seed = request.seed,
               .ignore_eos = request.ignore_eos,
               .continuous_usage = request.continuous_usage};
  AACO_ASSIGN(plan.prompt_tokens, serving::parse_length(request.prompt_tokens));
  AACO_ASSIGN(plan.output_tokens, serving::parse_length(request.output_tokens));
  if (!request.slo.empty()) {
    AACO_ASSIGN(plan.slo, analytics::llm::parse_slo(request.slo));
  }
  if (!request.definitions.empty()) {
    AACO_ASSIGN(plan.definitions, analytics::llm::parse_tools(request.definitions));
  }
  AACO_ASSIGN(const auto arrivals, serving::parse_arrivals(request.arrivals));
  if (!request.prompts.empty()) {
    AACO_ASSIGN(plan.prompts, serving::read_prompts(request.prompts));
  }
  if (request.shared_prefix_tokens > 0) {
    core::Random random = core::Random(request.seed).fork(UINT64_MAX);
    plan.prefix = serving::random_text(request.shared_prefix_tokens, random);
  }
  plan.cancel_after_ns = request.cancel_after_ns;
  plan.turns = request.turns;
  if (!request.replay.empty()) {
    AACO_ASSIGN(auto level, replay_level(plan, request));
    plan.levels.push_back(std::move(level));
  }
  for (const double rate : request.rates) {
    AACO_ASSIGN(auto level, open_level(rate, request, arrivals));
    plan.levels.push_back(std::move(level));
  }
  for (const std::int64_t concurrency : request.concurrency) plan.levels.push_back(closed_level(concurrency, request));
  if (plan.levels.empty()) plan.levels.push_back(closed_level(1, request));
  plan.warmup = request.warmup.value_or(std::min(kMaxDefaultWarmup, plan.levels.front().concurrency.value_or(8)));
  return plan;
}

std::string shown(std::string text, const LlmPlan& plan) {
  return serving::without_whole_secrets(std::move(text), serving::secrets_of(plan.target));
}

Json to_json(const LlmRequest& request, const LlmPlan& plan) {
  Json levels = Json::array(), headers = Json::array();
  for (const LlmLevel& level : plan.levels) levels.push(level.name);
  for (const std::string& header : request.headers) headers.push(header.substr(0, header.find(':')));
  Json out = Json::object({{"url", shown(plan.target.url(), plan)},
                           {"model", shown(plan.body.model, plan)},
                           {"api", std::string(to_string(plan.body.api))},
                           {"load", std::move(levels)}});
  Json concurrency = Json::array(), rates = Json::array();
  for (const std::int64_t one : request.concurrency) concurrency.push(one);
  for (const double one : request.rates) rates.push(one);
  if (!request.concurrency.empty()) out.set("concurrency", std::move(concurrency));
  if (!request.rates.empty()) out.set("rates", std::move(rates)).set("arrivals", request.arrivals);
  if (!request.replay.empty())
    out.set("replay", core::base_name(request.replay)).set("replay_speed", request.replay_speed.value_or(1));
  out.set_if("max_open", request.max_open)
      .set_if("requests", request.requests)
      .set_if("duration_ns", request.duration_ns)
      .set_if("ramp_ns", request.ramp_ns);
  out.set("warmup", plan.warmup)
      .set("prompt_tokens", to_string(plan.prompt_tokens))
      .set("output_tokens", to_string(plan.output_tokens));
  if (!request.prompts.empty()) out.set("prompts", core::base_name(request.prompts));
  out.set("shared_prefix_tokens", request.shared_prefix_tokens)
      .set("turns", request.turns)
      .set("ignore_eos", plan.body.ignore_eos)
      .set("continuous_usage", request.continuous_usage);
  if (!request.slo.empty()) out.set("slo", request.slo);
  out.set_if("price_per_hour", request.price_per_hour).set_if("cancel_after_ns", request.cancel_after_ns);
  out.set("telemetry", request.telemetry);
  if (request.ebpf) out.set("ebpf", true);
  if (!request.observe.empty()) out.set("observe", request.observe);
  out.set("seed", request.seed)
      .set("timeout_ns", request.timeout_ns)
      .set("retries", request.retries)
      .set("headers", std::move(headers));
  return out;
}

LlmWork::LlmWork(const LlmPlan& plan, const LlmLevel& level, std::uint64_t stream, RequestJournal* journal)
    : plan_(plan),
      level_(level),
      random_(core::Random(plan.body.seed).fork(stream)),
      journal_(journal),
      measured_(stream != 0 && stream != UINT64_MAX) {}

std::optional<serving::Work> LlmWork::next() {
  const bool open = !level_.concurrency;
  if (open && index_ >= level_.offsets_ns.size()) return std::nullopt;
  if (level_.requests && static_cast<std::int64_t>(index_) >= *level_.requests) return std::nullopt;
  serving::Work work;
  if (open) work.offset_ns = level_.offsets_ns[index_];
  work.prompt_tokens = plan_.prompt_tokens.draw(random_);
  work.output_tokens = plan_.output_tokens.draw(random_);
  work.conversation = static_cast<std::int64_t>(index_);
  const bool continues = !waiting_.empty();
  std::string text = continues ? std::string() : plan_.prefix;
  if (plan_.prompts.empty()) {
    text += serving::random_text(work.prompt_tokens, random_);
  } else {
    const serving::Prompt& prompt = plan_.prompts[index_ % plan_.prompts.size()];
    text += plan_.replayed && !measured_ ? serving::random_text(prompt.prompt_tokens, random_) : prompt.text;
    work.prompt_tokens = prompt.prompt_tokens;
    if (prompt.output_tokens) work.output_tokens = *prompt.output_tokens;
  }
  work.path = serving::request_path(plan_.body.api);
  if (plan_.turns == 1) {
    work.body = serving::request_body(plan_.body, text, work.output_tokens);
  } else {
    work.conversation = continues ? waiting_.front() : next_conversation_++;
    if (continues) waiting_.pop_front();
    Conversation& conversation = conversations_[work.conversation];
    ++conversation.turns;
    conversation.said.push_back(std::move(text));
    conversation.tokens += work.prompt_tokens;
    work.prompt_tokens = conversation.tokens;
    conversation.tokens += work.output_tokens;
    work.body = serving::conversation_body(plan_.body, conversation.said, work.output_tokens);
  }
  work.cancel_after_ns = plan_.cancel_after_ns;
  ++index_;
  return work;
}

void LlmWork::ended(const serving::RequestRecord& record, const std::string& text) {
  if (journal_ != nullptr) journal_->add(record);
  if (plan_.count_tokens && record.outcome == serving::Outcome::ok && !record.usage.output_tokens)
    answers_[record.request] = text;
  if (plan_.turns == 1) return;
  const auto found = conversations_.find(record.conversation);
  if (found == conversations_.end()) return;
  // A conversation whose turn failed has nothing to go on with.
  if (record.outcome != serving::Outcome::ok || found->second.turns >= plan_.turns) {
    conversations_.erase(found);
    return;
  }
  found->second.said.push_back(text);
  waiting_.push_back(record.conversation);
}

}  // namespace aaco::workflows
