#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serving/record.h"

namespace aaco::serving {

// Special tokens (end of sequence, markers of channels and of reasoning) are counted and have no text.
inline constexpr std::int64_t kMaxTextlessTokens = 8;

// Why the server's count of output tokens cannot be right; empty where nothing speaks against it. It contradicts max_tokens
// (more, unless as many chunks arrived), the content (more tokens than bytes; arguments of tool calls leave out the name of the
// function, so that they do not count) or the chunks (each has at least one token; one more chunk may be a flushed rest).
std::string usage_contradiction(const RequestRecord& record);

// Tokens of a reasoning of which the server sent nothing count in its usage: the rest, where that is possible, is what was sent.
std::optional<std::int64_t> tokens_sent(const RequestRecord& record);

// Of a complete answer: tokens that were not sent are left out, and `detail` says so; a count that cannot be right is removed,
// and `detail` says why.
void check_usage(RequestRecord& record);

}  // namespace aaco::serving
