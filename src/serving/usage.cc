#include "serving/usage.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::serving {

std::string usage_contradiction(const RequestRecord& record) {
  if (!record.usage.output_tokens) return {};
  const std::int64_t tokens = *record.usage.output_tokens;
  if (record.output_tokens_asked > 0 && tokens > std::max(record.output_tokens_asked, record.content_chunks))
    return fmt::format("usage reports {} output tokens, more than max_tokens ({})", tokens, record.output_tokens_asked);
  // All that was asked for is possible: tokens such as the end of a text, which ignore_eos passes, have no bytes.
  if (!record.tool_call && tokens != record.output_tokens_asked && record.content_bytes > 0 &&
      tokens > record.content_bytes + kMaxTextlessTokens)
    return fmt::format("usage reports {} output tokens, more than the response has bytes ({})", tokens, record.content_bytes);
  if (record.content_chunks > tokens + 1 || (tokens == 0 && record.content_chunks > 0))
    return fmt::format("usage reports {} output tokens, fewer than the response has chunks ({})", tokens, record.content_chunks);
  return {};
}

void check_usage(RequestRecord& record) {
  std::string why = usage_contradiction(record);
  if (why.empty()) return;
  record.usage.output_tokens.reset();
  record.detail = std::move(why);
}

}  // namespace aaco::serving
