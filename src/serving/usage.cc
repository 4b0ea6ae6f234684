#include "serving/usage.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::serving {
namespace {

std::string tokens_text(std::int64_t count) { return fmt::format("{} output token{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::string usage_contradiction(const RequestRecord& record) {
  if (!record.usage.output_tokens) return {};
  const std::int64_t tokens = *record.usage.output_tokens;
  if (record.output_tokens_asked > 0 && tokens > std::max(record.output_tokens_asked, record.content_chunks))
    return fmt::format("usage reports {}, more than max_tokens ({})", tokens_text(tokens), record.output_tokens_asked);
  // All that was asked for is possible: tokens such as the end of a text, which ignore_eos passes, have no bytes.
  if (!record.tool_call && tokens != record.output_tokens_asked && record.content_bytes > 0 &&
      tokens > record.content_bytes + kMaxTextlessTokens)
    return fmt::format("usage reports {}, more than the response has bytes ({})", tokens_text(tokens), record.content_bytes);
  if (record.content_chunks > tokens + 1 || (tokens == 0 && record.content_chunks > 0))
    return fmt::format("usage reports {}, fewer than the response has chunks ({})", tokens_text(tokens), record.content_chunks);
  return {};
}

std::optional<std::int64_t> tokens_sent(const RequestRecord& record) {
  const Usage& usage = record.usage;
  if (record.reasoning || record.content_chunks == 0 || !usage.output_tokens || usage.reasoning_tokens.value_or(0) == 0)
    return std::nullopt;
  if (record.output_tokens_asked > 0 && *usage.output_tokens > record.output_tokens_asked) return std::nullopt;
  RequestRecord sent = record;
  sent.usage.output_tokens = *usage.output_tokens - *usage.reasoning_tokens;
  return *sent.usage.output_tokens > 0 && usage_contradiction(sent).empty() ? sent.usage.output_tokens : std::nullopt;
}

void check_usage(RequestRecord& record) {
  if (const auto sent = tokens_sent(record)) {
    record.detail = fmt::format("{} of {} output tokens are of a reasoning that the server did not send; they are not counted",
                                *record.usage.reasoning_tokens, *record.usage.output_tokens);
    record.usage.output_tokens = sent;
    return;
  }
  std::string why = usage_contradiction(record);
  if (why.empty()) return;
  record.usage.output_tokens.reset();
  record.detail = std::move(why);
}

}  // namespace aaco::serving
