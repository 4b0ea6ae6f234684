#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "serving/client.h"
#include "trace/sink.h"
#include "workflows/llm/plan.h"
#include "workflows/llm/request_journal.h"
#include "workflows/llm/token_counter.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// A level of load that has run.
struct RanLevel {
  std::string phase, load;
  serving::StageOutcome outcome;
  std::map<std::int64_t, std::string> answers;  // whose tokens the server did not count
};

serving::ClientOptions client_options(const LlmRequest& request, const LlmPlan& plan, const Services& services);
// Fails with exhausted where the load needs more open files than the limit allows.
core::Status check_file_limit(const LlmPlan& plan, const LlmRequest& request);

// The warm-up and the levels in their order; with LlmRequest::until_limit up to the level that reaches the limit.
core::Result<std::vector<RanLevel>> run_levels(serving::Client& client, const LlmPlan& plan, const LlmRequest& request,
                                               SessionDraft& draft, RequestJournal& journal, const Services& services);
// After the load, so that counting takes nothing from it. Answers that cannot be counted stay without tokens.
void count_tokens(std::vector<RanLevel>& levels, const TokenCounter& counter, const Services& services);
// Requests, chunks and the client's own state; complete answers as iterations too, so that whatever works on iterations works on
// requests.
void write_levels(const std::vector<RanLevel>& levels, trace::Sink& sink);

}  // namespace aaco::workflows
