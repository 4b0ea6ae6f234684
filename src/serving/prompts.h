#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/result.h"

// What is asked: prompts and lengths, and the JSON of a request.
namespace aaco::serving {

enum class Api : std::uint8_t { chat, completions };
std::string_view to_string(Api api);

// A number of tokens, fixed or drawn: "512", "uniform:100:900", "normal:512:128".
struct Length {
  enum class Kind : std::uint8_t { fixed, uniform, normal };
  Kind kind = Kind::fixed;
  double first = 0, second = 0;  // fixed: the length; uniform: bounds; normal: mean and standard deviation
  // At least 1, at most kMaxTokens.
  [[nodiscard]] std::int64_t draw(core::Random& random) const;
  bool operator==(const Length&) const = default;
};
inline constexpr std::int64_t kMaxTokens = 10'000'000;
core::Result<Length> parse_length(std::string_view text);
std::string to_string(const Length& length);

// One request as it is planned.
struct Prompt {
  std::string text;
  std::int64_t prompt_tokens = 0;  // as planned; the server's count is in its usage
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> offset_ns;  // of a replay
  bool without_output = false;            // of a replay: the trace has no output token; one is asked for
  std::int64_t conversation = 0;
};

// Text of about `tokens` tokens: frequent short English words, one token each in most vocabularies. `random` decides which.
std::string random_text(std::int64_t tokens, core::Random& random);

// Prompts from a file: JSONL with {"prompt", "output_tokens"?} a line, or ShareGPT's [{"conversations": [{"from", "value"}]}],
// of which the first human message is taken and the answer's length, in words, as output_tokens. Fails with invalid_input,
// naming the line.
core::Result<std::vector<Prompt>> read_prompts(const std::string& path);
core::Result<std::vector<Prompt>> parse_prompts(std::string_view text);

// A trace to replay: Azure LLM (CSV: TIMESTAMP, ContextTokens, GeneratedTokens), BurstGPT (CSV: Timestamp, Model, Request tokens,
// Response tokens, ...), Mooncake (JSONL: timestamp in ms, input_length, output_length, hash_ids of blocks of 512 tokens), and
// AACO's own JSONL ({"arrival_s", "prompt_tokens", "output_tokens", "prompt"?}). Sorted by arrival, starting at 0. Equal hash ids
// become equal text, so that a prefix cache has what it had. Fails with invalid_input, naming the line.
core::Result<std::vector<Prompt>> read_replay(const std::string& path, std::uint64_t seed);
core::Result<std::vector<Prompt>> parse_replay(std::string_view text, std::uint64_t seed);

struct BodyOptions {
  Api api = Api::chat;
  std::string model;
  std::uint64_t seed = 1;
  bool ignore_eos = true;         // ask for the whole length: ignore_eos and min_tokens, where the server knows them
  bool ask_usage = true;          // stream_options.include_usage
  bool completion_limit = false;  // max_completion_tokens, which some servers of the chat API want instead of max_tokens
  bool continuous_usage = false;  // stream_options.continuous_usage_stats
};
std::string request_body(const BodyOptions& options, const std::string& prompt, std::int64_t output_tokens);
// A turn of a conversation: what was said before, user first and then in turns. Of the chat API.
std::string conversation_body(const BodyOptions& options, const std::vector<std::string>& said, std::int64_t output_tokens);
std::string_view request_path(Api api);

}  // namespace aaco::serving
