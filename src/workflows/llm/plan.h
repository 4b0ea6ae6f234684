#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/llm.h"
#include "analytics/llm_definitions.h"
#include "core/json.h"
#include "serving/client.h"
#include "serving/prompts.h"
#include "serving/schedule.h"
#include "workflows/llm_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

class RequestJournal;

// One level of the load.
struct LlmLevel {
  std::string name;  // "concurrency 4", "rate 12.5/s", "replay"
  std::optional<std::int64_t> concurrency;
  std::vector<std::int64_t> offsets_ns;  // open loop
  std::optional<std::int64_t> requests;  // closed loop
  std::optional<std::int64_t> duration_ns;
};

// The request with every text read.
struct LlmPlan {
  serving::Target target;
  serving::BodyOptions body;
  std::vector<LlmLevel> levels;
  std::vector<serving::Prompt> prompts;  // from a file; empty: random
  bool replayed = false;
  serving::Length prompt_tokens, output_tokens;
  std::string prefix;  // shared by all prompts
  std::int64_t turns = 1;
  bool count_tokens = false;  // the server does not: answers are kept
  analytics::llm::Slo slo;
  std::vector<analytics::llm::Tool> definitions;
  std::int64_t warmup = 1;
  std::optional<std::int64_t> cancel_after_ns;
};

// Reads files and draws the arrivals; sends nothing.
core::Result<LlmPlan> plan_llm(const LlmRequest& request, const Services& services);
// `text` without the secrets of the plan's requests, as it may be stored and printed: a server's name of a model may repeat them.
std::string shown(std::string text, const LlmPlan& plan);
// What is stored of the request: no header values and no key.
core::Json to_json(const LlmRequest& request, const LlmPlan& plan);

// The requests of a level, in their order. `stream` 0 is the warm-up and UINT64_MAX the probe: of a replayed trace they take the
// lengths, not the text, which would be in the server's prefix cache then. Every level and every run with the same seed has the
// same ones. With several turns a request is the next turn of the conversation that has waited longest, or the first of a new
// one.
class LlmWork final : public serving::WorkSource {
 public:
  // `journal`: gets each request that has ended; null: none.
  LlmWork(const LlmPlan& plan, const LlmLevel& level, std::uint64_t stream, RequestJournal* journal = nullptr);
  std::optional<serving::Work> next() override;
  void ended(const serving::RequestRecord& record, const std::string& text) override;
  // Of complete requests, by their index; empty unless LlmPlan::count_tokens.
  [[nodiscard]] std::map<std::int64_t, std::string> take_answers() { return std::move(answers_); }

 private:
  struct Conversation {
    std::vector<std::string> said;
    std::int64_t turns = 0, tokens = 0;  // that were asked; planned tokens of what was said
  };
  const LlmPlan& plan_;
  const LlmLevel& level_;
  core::Random random_;
  RequestJournal* journal_;
  bool measured_;  // otherwise a warm-up or a probe
  std::size_t index_ = 0;
  std::map<std::int64_t, Conversation> conversations_;
  std::deque<std::int64_t> waiting_;  // for their next turn
  std::int64_t next_conversation_ = 0;
  std::map<std::int64_t, std::string> answers_;
};

}  // namespace aaco::workflows
