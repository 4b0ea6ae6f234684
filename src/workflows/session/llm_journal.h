#pragma once

#include <string_view>

namespace aaco::workflows {

// In the folder of an open llm session: the requests that have ended (workflows/llm/request_journal.h).
inline constexpr std::string_view kLlmJournal = ".llm_requests.jsonl";

}  // namespace aaco::workflows
